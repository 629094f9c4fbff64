import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ScribeTest {
    static final String ROOT =
        System.getenv().getOrDefault("SCRIBE_BASE_URL", "http://127.0.0.1:8087").split("/ns/")[0];
    static final String OPERATOR = System.getenv("SCRIBE_ADMIN_TOKEN");
    static final HttpClient HTTP = HttpClient.newHttpClient();
    String name = "";
    String made = "";

    String control(String method, String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(ROOT + "/__admin/" + path))
            .header("Content-Type", "application/json").method(method, BodyPublishers.ofString(body));
        if (!name.isEmpty()) request.header("X-Scribe-Namespace", name);
        if (OPERATOR != null) request.header("Authorization", "Bearer " + OPERATOR);
        var answer = HTTP.send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() == 422) throw new AssertionError(member(answer.body(), "diff"));
        if (answer.statusCode() >= 400) throw new AssertionError(answer.body());
        return answer.body();
    }

    /** A text of a flat JSON object; a project would use its JSON library. */
    static String member(String json, String name) {
        var found = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"").matcher(json);
        assertTrue(found.find(), json);
        return found.group(1).replace("\\n", "\n").replace("\\\"", "\"").replace("\\/", "/");
    }

    @BeforeEach void create() throws Exception {
        made = control("POST", "namespaces", "{}");
        name = member(made, "name");
    }

    @AfterEach void delete() throws Exception { control("DELETE", "namespaces/" + name, ""); }

    // What follows is the client under test.
    HttpResponse<String> post(String path, String body, String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(ROOT + member(made, "path") + path))
            .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
        if (token != null) request.header("Authorization", "Bearer " + token);
        return HTTP.send(request.build(), BodyHandlers.ofString());
    }

    int begin(String id) throws Exception {
        var login = "{\"client_id\":\"%s\",\"client_secret\":\"%s\"}"
            .formatted(member(made, "client_id"), member(made, "client_secret"));
        var token = member(post("/connect-auth/v1/account/login", login, null).body(), "access_token");
        var visit = "{\"mode\":\"consultation\",\"transfer\":\"vaded\",\"s3_url\":\"s3://bucket/260101/%s\"}".formatted(id);
        int status;
        do status = post("/voice/api/v2/transaction/init/" + id, visit, token).statusCode(); while (status == 503);
        return status;
    }

    @Test void anInitThatFailsOnceIsTriedAgain() throws Exception {
        control("POST", "faults/next", "{\"operation\":\"initTransaction\",\"status\":503}");
        assertEquals(201, begin("visit-1"));
        control("POST", "requests/verify", "{\"operation\":\"initTransaction\",\"times\":2}");
    }

    @Test void whatWasNotSentIsShownWithTheNearestRequest() throws Exception {
        begin("visit-2");
        var error = assertThrows(AssertionError.class, () -> control(
            "POST", "requests/verify", "{\"operation\":\"initTransaction\",\"body\":{\"mode\":\"dictation\"}}"));
        assertTrue(error.getMessage().contains("+body=mode: \"consultation\""), error.getMessage());
    }
}
