import aerospike from 'aerospike'
import type { Database } from 'skein'

/** Order of each list and map of a record as its bytes say it: 0 unordered, 1 ordered, 3 key-value ordered. */
export async function storedFlags(
  db: Database,
  namespace: string,
  set: string,
  key: string | number,
): Promise<{ [bin: string]: number }> {
  const policy = new aerospike.ReadPolicy({ deserialize: false })
  const { bins } = await db.client.get(new aerospike.Key(namespace, set, key), policy)
  return Object.fromEntries(Object.entries(bins).map(([bin, value]) => [bin, flagsOf(value)]))
}

// A list or map with an order begins with an empty extension whose type is the order: c7 00 <order>, behind the header.
function flagsOf(bytes: unknown): number {
  if (!Buffer.isBuffer(bytes)) return 0
  const header = bytes[0] < 0xa0 ? 1 : bytes[0] === 0xdc || bytes[0] === 0xde ? 3 : 5
  return bytes[header] === 0xc7 && bytes[header + 1] === 0 ? bytes[header + 2] : 0
}
