// Sends prepared requests to a port of this machine with a number of clients, as fast as they are answered, and prints
// what that took as JSON:
//
//     replay PORT CLIENTS SECONDS REQUESTS BODY
//
// A PORT that begins with "tls:" is spoken to in TLS, by whichever certificate.
//
// REQUESTS is a file of scenarios: requests that one client sends one after another. Before each request stands a line
// "FIRST STATUS BODY LENGTH": whether it begins a scenario, the status that it must be answered with, whether the file
// BODY follows it, and its length in bytes. After SECONDS no scenario is begun. A request that is answered with 202 is
// sent again.
//
// Nothing is computed here while the clock runs, so that of the processor hardly more is used than the kernel needs.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct bytes {
    char *start;
    size_t count;
};

struct request {
    bool first, with_body;
    int status;
    struct bytes head;
};

static int port;
static SSL_CTX *encryption;  // none for plain connections
static double limit, start;
static struct bytes body;
static struct request *requests;
static size_t request_count;
static size_t *scenarios;  // where each begins among the requests
static size_t scenario_count;
static pthread_barrier_t all_connected;
static atomic_size_t next_scenario, scenarios_done, requests_done, asked_again;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    _exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static struct bytes contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("cannot read %s", path);
    struct bytes bytes = {.count = ftell(file)};
    bytes.start = malloc(bytes.count + 1);
    rewind(file);
    if (fread(bytes.start, 1, bytes.count, file) != bytes.count) fail("cannot read %s", path);
    bytes.start[bytes.count] = 0;
    fclose(file);
    return bytes;
}

static void read_requests(const char *path) {
    struct bytes file = contents(path);
    char *position = file.start, *end = file.start + file.count;
    size_t room = 0;
    while (position < end) {
        if (request_count == room) {
            room = room ? 2 * room : 1024;
            requests = realloc(requests, room * sizeof *requests);
            scenarios = realloc(scenarios, room * sizeof *scenarios);
        }
        struct request *request = &requests[request_count];
        request->first = strtol(position, &position, 10);
        request->status = strtol(position, &position, 10);
        request->with_body = strtol(position, &position, 10);
        request->head.count = strtoul(position, &position, 10);
        request->head.start = ++position;
        position += request->head.count;
        if (request->first) scenarios[scenario_count++] = request_count;
        request_count++;
    }
    if (position != end || !request_count || !requests[0].first) fail("%s is broken", path);
}

struct connection {
    int socket;
    SSL *tls;
};

static struct connection dial(void) {
    int connection = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 30};
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) fail("port %d: no connection", port);
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    SSL *tls = NULL;
    if (encryption) {
        tls = SSL_new(encryption);
        SSL_set_fd(tls, connection);
        if (SSL_connect(tls) != 1) fail("port %d: no handshake", port);
    }
    return (struct connection){connection, tls};
}

static void hang_up(struct connection connection) {
    if (connection.tls) SSL_free(connection.tls);
    close(connection.socket);
}

static ssize_t receive(struct connection connection, char *buffer, size_t size) {
    return connection.tls ? SSL_read(connection.tls, buffer, size) : recv(connection.socket, buffer, size, 0);
}

static void send_request(struct connection connection, const struct request *request) {
    if (connection.tls) {
        if (SSL_write(connection.tls, request->head.start, request->head.count) <= 0
            || (request->with_body && body.count && SSL_write(connection.tls, body.start, body.count) <= 0))
            fail("port %d: the request was not taken", port);
        return;
    }
    struct iovec parts[2] = {
        {request->head.start, request->head.count},
        {body.start, request->with_body ? body.count : 0},
    };
    while (parts[0].iov_len + parts[1].iov_len) {
        ssize_t sent = writev(connection.socket, parts, 2);
        if (sent <= 0) fail("port %d: the request was not taken", port);
        for (int part = 0; part < 2; part++) {
            size_t taken = (size_t)sent < parts[part].iov_len ? (size_t)sent : parts[part].iov_len;
            parts[part].iov_base = (char *)parts[part].iov_base + taken;
            parts[part].iov_len -= taken;
            sent -= taken;
        }
    }
}

// Reads an answer to its end and returns its status; says whether the connection ends with it.
static int receive_answer(struct connection connection, bool *closes) {
    char buffer[65536];
    size_t count = 0;
    char *end_of_head;
    do {
        ssize_t received = receive(connection, buffer + count, sizeof buffer - 1 - count);
        if (received <= 0) fail("port %d: no answer", port);
        count += received;
        buffer[count] = 0;
    } while (!(end_of_head = strstr(buffer, "\r\n\r\n")));
    int status = atoi(buffer + strlen("HTTP/1.1 "));
    size_t length = 0;
    *closes = false;
    bool has_length = status == 204, is_chunked = false;
    for (char *line = buffer; line < end_of_head; line = strstr(line, "\r\n") + 2) {
        if (!strncasecmp(line, "content-length:", 15)) {
            length = strtoul(line + 15, NULL, 10);
            has_length = true;
        }
        if (!strncasecmp(line, "connection: close", 17)) *closes = true;
        if (!strncasecmp(line, "transfer-encoding: chunked", 26)) is_chunked = true;
    }
    if (is_chunked) {
        // No answer is asked for here that has this within it.
        while (count < 7 || memcmp(buffer + count - 7, "\r\n0\r\n\r\n", 7)) {
            size_t kept = count < 7 ? count : 7;
            memmove(buffer, buffer + count - kept, kept);
            ssize_t received = receive(connection, buffer + kept, sizeof buffer - kept);
            if (received <= 0) fail("port %d: half an answer", port);
            count = kept + received;
        }
        return status;
    }
    if (!has_length) fail("an answer without a length:\n%s", buffer);
    size_t left = length - (buffer + count - (end_of_head + 4));
    while (left) {
        ssize_t received = receive(connection, buffer, left < sizeof buffer ? left : sizeof buffer);
        if (received <= 0) fail("port %d: half an answer", port);
        left -= received;
    }
    return status;
}

static void *client(void *unused) {
    struct connection connection = dial();
    pthread_barrier_wait(&all_connected);
    size_t scenario;
    while ((scenario = next_scenario++) < scenario_count && now() - start < limit) {
        const struct request *request = &requests[scenarios[scenario]];
        do {
            bool closes;
            int status;
            while (true) {
                send_request(connection, request);
                status = receive_answer(connection, &closes);
                if (closes) {
                    hang_up(connection);
                    connection = dial();
                }
                if (status != 202 || request->status == 202) break;
                asked_again++;
            }
            if (status != request->status) {
                fail("answered with %d: %.*s", status, (int)strcspn(request->head.start, "\r"), request->head.start);
            }
            requests_done++;
            request++;
        } while (request < requests + request_count && !request->first);
        scenarios_done++;
    }
    hang_up(connection);
    return unused;
}

int main(int count, char **arguments) {
    if (count != 6) fail("replay PORT CLIENTS SECONDS REQUESTS BODY");
    signal(SIGPIPE, SIG_IGN);
    bool is_encrypted = !strncmp(arguments[1], "tls:", 4);
    port = atoi(arguments[1] + (is_encrypted ? 4 : 0));
    if (is_encrypted) encryption = SSL_CTX_new(TLS_client_method());
    int clients = atoi(arguments[2]);
    limit = atof(arguments[3]);
    read_requests(arguments[4]);
    body = contents(arguments[5]);

    pthread_t threads[clients];
    struct rusage before, after;
    pthread_barrier_init(&all_connected, NULL, clients + 1);
    for (int i = 0; i < clients; i++) pthread_create(&threads[i], NULL, client, NULL);
    getrusage(RUSAGE_SELF, &before);
    start = now();
    pthread_barrier_wait(&all_connected);
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    double seconds = now() - start;
    getrusage(RUSAGE_SELF, &after);
    double cpu = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) + (after.ru_stime.tv_sec - before.ru_stime.tv_sec)
        + (after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
    printf(
        "{\"scenarios\": %zu, \"requests\": %zu, \"asked_again\": %zu, \"seconds\": %.6f, "
        "\"client_cpu_seconds\": %.6f}\n",
        (size_t)scenarios_done, (size_t)requests_done, (size_t)asked_again, seconds, cpu);
    return 0;
}
