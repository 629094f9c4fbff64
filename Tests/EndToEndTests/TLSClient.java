import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Java's own client: asks for what it is told, by both protocols, and logs in. */
class TLSClient {
    public static void main(String[] arguments) throws Exception {
        for (var version : HttpClient.Version.values()) {
            var client = HttpClient.newBuilder().version(version).build();
            var ready = client.send(
                HttpRequest.newBuilder(URI.create(arguments[0] + "/readyz")).build(), HttpResponse.BodyHandlers.ofString());
            var login = client.send(
                HttpRequest.newBuilder(URI.create(arguments[0] + "/connect-auth/v1/account/login"))
                    .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"client_id\":\"dev-client\",\"client_secret\":\"dev-secret\"}"))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
            System.out.println(ready.version() + " " + ready.statusCode() + " " + login.statusCode());
        }
    }
}
