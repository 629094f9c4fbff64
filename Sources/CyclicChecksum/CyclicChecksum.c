#include "CyclicChecksum.h"

#include <string.h>

// For a distance of n bits, the reflected remainders of x^(n+63) and x^(n-1) by CRC64NVME's polynomial: the first moves the
// earlier half of 16 bytes, the second the later one. A product of reflected factors is one bit short, hence the -1.
static const uint64_t distance128[2] = {0xeadc41fd2ba3d420, 0x21e9761e252621ac};
static const uint64_t distance256[2] = {0xb0bc2e589204f500, 0xe1e0bb9d45d7a44c};
static const uint64_t distance384[2] = {0xbdd7ac0ee1a4a0f0, 0xa3ffdc1fe8e82a8b};
static const uint64_t distance512[2] = {0x0c32cdb31e18a84a, 0x62242240ace5045a};

#if defined(__x86_64__)
#include <immintrin.h>
typedef __m128i lane;
#define WITH_PRODUCTS __attribute__((target("pclmul,sse2")))
#define LOAD(bytes) _mm_loadu_si128((const __m128i *)(bytes))
#define STORE(bytes, value) _mm_storeu_si128((__m128i *)(bytes), value)
#define XOR(a, b) _mm_xor_si128(a, b)
#define MOVE(value, by) XOR(_mm_clmulepi64_si128(value, LOAD(by), 0x00), _mm_clmulepi64_si128(value, LOAD(by), 0x11))
static int has_products(void) { return __builtin_cpu_supports("pclmul"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_AES)
#include <arm_neon.h>
typedef uint64x2_t lane;
#define WITH_PRODUCTS
#define LOAD(bytes) vreinterpretq_u64_u8(vld1q_u8((const uint8_t *)(bytes)))
#define STORE(bytes, value) vst1q_u8(bytes, vreinterpretq_u8_u64(value))
#define XOR(a, b) veorq_u64(a, b)
#define PRODUCT(value, by, half) \
  vreinterpretq_u64_p128(vmull_p64((poly64_t)vgetq_lane_u64(value, half), (poly64_t)(by)[half]))
#define MOVE(value, by) XOR(PRODUCT(value, by, 0), PRODUCT(value, by, 1))
static int has_products(void) { return 1; }
#endif

#if defined(WITH_PRODUCTS)
WITH_PRODUCTS static size_t fold(uint64_t state, const uint8_t *bytes, size_t count, uint8_t folded[16]) {
  const uint64_t first[2] = {state, 0};
  lane a = XOR(LOAD(bytes), LOAD(first)), b = LOAD(bytes + 16), c = LOAD(bytes + 32), d = LOAD(bytes + 48);
  size_t position = 64;
  for (; count - position >= 64; position += 64) {
    a = XOR(MOVE(a, distance512), LOAD(bytes + position));
    b = XOR(MOVE(b, distance512), LOAD(bytes + position + 16));
    c = XOR(MOVE(c, distance512), LOAD(bytes + position + 32));
    d = XOR(MOVE(d, distance512), LOAD(bytes + position + 48));
  }
  d = XOR(d, XOR(MOVE(a, distance384), XOR(MOVE(b, distance256), MOVE(c, distance128))));
  STORE(folded, d);
  return position;
}
#endif

size_t crc64nvme_fold(uint64_t state, const uint8_t *bytes, size_t count, uint8_t folded[16]) {
#if defined(WITH_PRODUCTS)
  if (count >= 128 && has_products()) return fold(state, bytes, count, folded);
#endif
  memset(folded, 0, 16);
  return 0;
}
