/** FNV-1a over the UTF-8 bytes, 32 bits, mixed once more so that names that differ in their last letter land far apart. */
export function fnv1a(text: string, seed = 0x811c_9dc5): number {
  let hash = seed
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x0100_0193)
  // The finaliser of MurmurHash3 (Austin Appleby, public domain).
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
