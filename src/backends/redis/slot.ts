export const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021), as the Redis Cluster specification wants it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/** The slot of a key in a Redis Cluster: of what stands in its first pair of braces, if that is anything. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const tag = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  return crc16(new TextEncoder().encode(tag)) % SLOTS;
}
