// Load for live sockets: sockets PORT MODE COUNT SECONDS KEY
//
// MODE is idle (a KeepAlive each 5 s), audio (16 kHz at the pace of speech, a frame each 100 ms) or text (a segment each
// 600 ms). Prints one JSON object: how long results took, from the last frame that they needed to their arrival, and what
// went over the wire. One thread; frames are masked with zeros, which is a mask.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 16000, FRAME = 3200, FRAMES = 4000, BUFFER = 1 << 16 };

struct socket {
    int fd, open;
    double next;           // when it sends again
    int sent;              // frames or segments
    int answered;
    double *times;         // of each frame or segment, when it was sent
    unsigned char *buffer; // what came and is no whole frame yet
    int filled;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static long bytes_out, bytes_in, closed;
static double *delays;
static int delay_count, delay_limit;

static void note(double delay) {
    if (delay_count == delay_limit) delays = realloc(delays, (delay_limit = delay_limit * 2 + 1024) * sizeof *delays);
    delays[delay_count++] = delay;
}

static void send_all(struct socket *s, const void *data, int size) {
    const char *p = data;
    while (size > 0) {
        int n = send(s->fd, p, size, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) { usleep(200); continue; }
        if (n <= 0) { closed++; s->open = 0; return; }
        p += n, size -= n, bytes_out += n;
    }
}

static void send_frame(struct socket *s, int opcode, const void *payload, int size) {
    unsigned char head[14];
    int n = 2;
    head[0] = 0x80 | opcode;
    if (size < 126) head[1] = 0x80 | size;
    else head[1] = 0x80 | 126, head[2] = size >> 8, head[3] = size, n = 4;
    memset(head + n, 0, 4);
    static unsigned char whole[FRAME + 64];
    memcpy(whole, head, n + 4);
    memcpy(whole + n + 4, payload, size);
    send_all(s, whole, n + 4 + size);
}

static int16_t voice[RATE * 3];

static void connect_to(struct socket *s, int port, const char *path, const char *authorization) {
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(s->fd, (struct sockaddr *)&a, sizeof a)) fail("connect");
    int one = 1;
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    char request[4096];
    int n = snprintf(request, sizeof request,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: %s\r\n\r\n",
        path, port, authorization);
    if (write(s->fd, request, n) != n) fail("write");
    char answer[4096];
    int got = 0;
    while (got < (int)sizeof answer - 1) {
        // Byte by byte: what follows the head is the socket's.
        if (read(s->fd, answer + got, 1) != 1) fail("no answer to the upgrade");
        answer[++got] = 0;
        if (got > 3 && !strcmp(answer + got - 4, "\r\n\r\n")) break;
    }
    if (strncmp(answer, "HTTP/1.1 101", 12)) { fprintf(stderr, "%s", answer); exit(1); }
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    s->open = 1;
}

// A token of another issuer, for a user of its own; outside of strict mode nobody verifies it.
static void token_of(int user, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char claims[100];
    int size = snprintf(claims, sizeof claims, "{\"iss\":\"bench\",\"sub\":\"user-%d\"}", user), at = 0;
    at = sprintf(out, "Bearer eyJhbGciOiJSUzI1NiJ9.");
    for (int i = 0; i < size; i += 3) {
        int left = size - i < 3 ? size - i : 3;
        unsigned long bits = 0;
        for (int j = 0; j < 3; j++) bits = bits << 8 | (j < left ? (unsigned char)claims[i + j] : 0);
        for (int j = 0; j <= left; j++) out[at++] = digits[bits >> (18 - 6 * j) & 63];
    }
    strcpy(out + at, ".c2ln");
}

static double value(const char *text, const char *name) {
    const char *p = strstr(text, name);
    return p ? atof(p + strlen(name)) : -1;
}

// A text from the server.
static void heard(struct socket *s, char *text, int is_text_mode) {
    double t = now();
    if (is_text_mode) {
        char *p = text;
        while (*text == '[' && (p = strstr(p, "\"text\":\"segment "))) {
            int number = atoi(p += 16);
            if (number < s->sent) note(t - s->times[number]), s->answered++;
        }
        return;
    }
    if (!strstr(text, "\"type\":\"Results\"")) return;
    double end = value(text, "\"start\":") + value(text, "\"duration\":");
    int frame = (int)ceil(end * 10 - 1e-6) - 1;
    if (frame >= 0 && frame < s->sent) note(t - s->times[frame]), s->answered++;
}

static void receive(struct socket *s, int is_text_mode) {
    for (;;) {
        int n = read(s->fd, s->buffer + s->filled, BUFFER - s->filled - 1);
        if (n == 0 || (n < 0 && errno != EAGAIN)) { if (s->open) closed++; s->open = 0; return; }
        if (n < 0) return;
        bytes_in += n;
        s->filled += n;
        int at = 0;
        while (s->filled - at >= 2) {
            unsigned char *p = s->buffer + at;
            long size = p[1] & 0x7F, head = 2;
            if (size == 126) { if (s->filled - at < 4) break; size = p[2] << 8 | p[3], head = 4; }
            if (size == 127) { fprintf(stderr, "a frame that is too long\n"); exit(1); }
            if (s->filled - at < head + size) break;
            int opcode = p[0] & 0xF;
            if (opcode == 9) send_frame(s, 10, p + head, size);
            if (opcode == 1) {
                unsigned char kept = p[head + size];
                p[head + size] = 0;
                heard(s, (char *)p + head, is_text_mode);
                p[head + size] = kept;
            }
            at += head + size;
        }
        memmove(s->buffer, s->buffer + at, s->filled -= at);
    }
}

static int compare(const void *a, const void *b) {
    double d = *(double *)a - *(double *)b;
    return d < 0 ? -1 : d > 0;
}

static double percentile(double p) { return delay_count ? delays[(int)(p * (delay_count - 1))] * 1000 : 0; }

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    int port = atoi(argv[1]), count = atoi(argv[3]);
    int is_audio = !strcmp(argv[2], "audio"), is_text = !strcmp(argv[2], "text");
    double seconds = atof(argv[4]), interval = is_audio ? 0.1 : is_text ? 0.6 : 5;
    char authorization[3000];
    snprintf(authorization, sizeof authorization, "Token %s", argv[5]);
    struct rlimit limit = {65536, 65536};
    setrlimit(RLIMIT_NOFILE, &limit);
    // Two seconds of sound, one of silence.
    for (int i = 0; i < RATE * 2; i++) voice[i] = 9000 * sin(i * 0.1);
    struct socket *sockets = calloc(count, sizeof *sockets);
    int poll = epoll_create1(0);
    double begin = now();
    for (int i = 0; i < count; i++) {
        struct socket *s = &sockets[i];
        s->times = malloc(FRAMES * sizeof *s->times);
        s->buffer = malloc(BUFFER);
        if (is_text) token_of(i, authorization);
        connect_to(s, port,
            is_text ? "/v4/listen"
                    : "/v1/listen?encoding=linear16&sample_rate=16000&interim_results=true&endpointing=300",
            authorization);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
        epoll_ctl(poll, EPOLL_CTL_ADD, s->fd, &e);
    }
    double opened = now();
    // Not all at the same moment.
    for (int i = 0; i < count; i++) sockets[i].next = opened + interval * i / count;
    double end = opened + seconds;
    for (double t; (t = now()) < end;) {
        double next = end;
        for (int i = 0; i < count; i++) {
            struct socket *s = &sockets[i];
            if (!s->open) continue;
            if (s->next <= t && s->sent < FRAMES) {
                s->times[s->sent] = now();
                if (is_audio) {
                    send_frame(s, 2, (char *)voice + (s->sent % 30) * FRAME, FRAME);
                } else if (is_text) {
                    char text[200];
                    int n = snprintf(text, sizeof text,
                        "{\"type\":\"transcript_segment\",\"text\":\"segment %d of a visit\",\"speaker\":\"SPEAKER_00\","
                        "\"start\":%.1f,\"end\":%.1f,\"is_final\":true,\"confidence\":0.95}",
                        s->sent, s->sent * 0.6, s->sent * 0.6 + 0.5);
                    send_frame(s, 1, text, n);
                } else {
                    send_frame(s, 1, "{\"type\":\"KeepAlive\"}", 20);
                }
                s->sent++;
                s->next += interval;
            }
            if (s->next < next) next = s->next;
        }
        struct epoll_event events[256];
        int wait = (int)((next - now()) * 1000);
        int n = epoll_wait(poll, events, 256, wait < 0 ? 0 : wait > 50 ? 50 : wait);
        for (int i = 0; i < n; i++) receive(events[i].data.ptr, is_text);
    }
    qsort(delays, delay_count, sizeof *delays, compare);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"sockets\": %d, \"seconds\": %.1f, \"open_ms\": %.1f, \"results\": %d, \"p50_ms\": %.2f, \"p99_ms\": %.2f, "
           "\"max_ms\": %.2f, \"bytes_out\": %ld, \"bytes_in\": %ld, \"closed\": %ld, \"own_cpu\": %.2f}\n",
        count, seconds, (opened - begin) * 1000, delay_count, percentile(0.5), percentile(0.99), percentile(1), bytes_out,
        bytes_in, closed, usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 + usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6);
    return closed ? 1 : 0;
}
