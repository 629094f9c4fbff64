import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Java's own client: downloads what it is told, and says by which protocol, how much, and its hash. */
class Download {
    public static void main(String[] arguments) throws Exception {
        var answer = HttpClient.newHttpClient().send(
            HttpRequest.newBuilder(URI.create(arguments[0])).build(), HttpResponse.BodyHandlers.ofInputStream());
        var hash = MessageDigest.getInstance("SHA-256");
        var piece = new byte[65536];
        long length = 0;
        try (var body = answer.body()) {
            for (int count; (count = body.read(piece)) >= 0; length += count) hash.update(piece, 0, count);
        }
        System.out.println(answer.version() + " " + length + " " + HexFormat.of().formatHex(hash.digest()));
    }
}
