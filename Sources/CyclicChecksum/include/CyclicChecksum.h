#include <stddef.h>
#include <stdint.h>

/// Folds the bytes of a reflected CRC of 64 bits by carry-less products, 64 at a time.
///
/// `folded` gets 16 bytes that have the same remainder as `state` (exclusive-ored into the first eight bytes) and all
/// bytes that were read. A table turns them into the CRC.
/// Returns the number of bytes read, a multiple of 64; 0 where the processor has no such product, or for fewer than 128.
size_t crc64nvme_fold(uint64_t state, const uint8_t *bytes, size_t count, uint8_t folded[16]);
