import type { KeyKind, KeyValue } from './key-value.js'

/**
 * The key of a record together with its set, as text: `post:1`. References to several classes hold such keys, so that record 1 of one set is
 * never taken for record 1 of another. A set name has no colon; bytes are written in hex.
 */
export function tagKey(set: string, key: KeyValue): string {
  return `${set}:${key instanceof Uint8Array ? Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex') : String(key)}`
}

/** The set of a tagged key; undefined for what is none. */
export function setOfTag(tagged: unknown): string | undefined {
  const at = typeof tagged === 'string' ? tagged.indexOf(':') : -1
  return at > 0 ? (tagged as string).slice(0, at) : undefined
}

/** The key in a tagged key; undefined where it is not a key of that kind, written as `tagKey` writes it. */
export function keyOfTag(tagged: string, kind: KeyKind): KeyValue | undefined {
  const text = tagged.slice(tagged.indexOf(':') + 1)
  const key = parse(text, kind)
  return key !== undefined && text !== '' && tagKey('', key) === `:${text}` ? key : undefined
}

function parse(text: string, kind: KeyKind): KeyValue | undefined {
  switch (kind) {
    case 'string':
      return text
    case 'int':
      return Number.isSafeInteger(Number(text)) ? Number(text) : undefined
    case 'bigint':
      return /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
    case 'bytes':
      return Buffer.from(text, 'hex')
  }
}
