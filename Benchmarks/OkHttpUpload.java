import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.Random;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;

/** Uploads some bytes again and again over one connection: URL CA BYTES COUNT nagle|nodelay h2|http/1.1; a line with the
    seconds of each upload. OkHttp leaves Nagle's algorithm on by itself. */
public class OkHttpUpload {
    /** Sockets as they are, or without Nagle's algorithm. */
    private static final class Sockets extends SocketFactory {
        private final boolean noDelay;

        Sockets(boolean noDelay) { this.noDelay = noDelay; }

        private Socket tune(Socket socket) throws IOException {
            socket.setTcpNoDelay(noDelay);
            return socket;
        }

        @Override public Socket createSocket() throws IOException { return tune(new Socket()); }
        @Override public Socket createSocket(String host, int port) throws IOException { return tune(new Socket(host, port)); }
        @Override public Socket createSocket(InetAddress host, int port) throws IOException { return tune(new Socket(host, port)); }
        @Override public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
            return tune(new Socket(host, port, from, fromPort));
        }
        @Override public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
            return tune(new Socket(host, port, from, fromPort));
        }
    }

    public static void main(String[] arguments) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (FileInputStream file = new FileInputStream(arguments[1])) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        OkHttpClient client = new OkHttpClient.Builder()
            // The certificate is the server's, whichever name it was made for: speed is measured here.
            .hostnameVerifier((host, session) -> true)
            .socketFactory(new Sockets(arguments[4].equals("nodelay")))
            .sslSocketFactory(context.getSocketFactory(), (X509TrustManager) trust.getTrustManagers()[0])
            .protocols(arguments[5].equals("h2") ? List.of(Protocol.HTTP_2, Protocol.HTTP_1_1) : List.of(Protocol.HTTP_1_1))
            .build();
        byte[] body = new byte[Integer.parseInt(arguments[2])];
        new Random(1).nextBytes(body);
        for (int count = 0; count < Integer.parseInt(arguments[3]); count++) {
            long start = System.nanoTime();
            Request request = new Request.Builder().url(arguments[0]).put(RequestBody.create(null, body)).build();
            try (okhttp3.Response response = client.newCall(request).execute()) {
                response.body().bytes();
                if (!response.isSuccessful() || !response.protocol().toString().equals(arguments[5])) {
                    throw new IOException(response.protocol() + " " + response.code());
                }
            }
            System.out.println((System.nanoTime() - start) / 1e9);
        }
        System.exit(0);
    }
}
