import { ByteWriter } from '../protocol/byte-writer.js'
import { DIGEST_SIZE } from '../protocol/constants.js'
import { RecordState } from '../store/record-state.js'
import { Particle } from '../value/particle.js'
import { EntryReader } from './entry-reader.js'
import type { JournalEntry, RecordChange } from './entry.js'

const Kind = { RECORDS: 1, INDEX: 2, NO_INDEX: 3, CLOCK: 4 } as const
const Flag = { DELETED: 0, PRESENT: 1, WITH_KEY: 2 } as const

export function encodeEntry(entry: JournalEntry): Buffer {
  const writer = new ByteWriter()
  switch (entry.kind) {
    case 'records':
      writer.u8(Kind.RECORDS)
      writer.name(entry.namespace)
      writer.u32(entry.changes.length)
      for (const change of entry.changes) writeChange(writer, change)
      break
    case 'index':
      writer.u8(Kind.INDEX)
      writeBytes(writer, Buffer.from(entry.definition))
      break
    case 'no index':
      writer.u8(Kind.NO_INDEX)
      writer.name(entry.namespace)
      writer.name(entry.name)
      break
    case 'clock':
      writer.u8(Kind.CLOCK)
      writer.f64(entry.offset)
  }
  return writer.take()
}

/** Throws where the bytes are not an entry. */
export function decodeEntry(bytes: Buffer): JournalEntry {
  const reader = new EntryReader(bytes)
  const entry = readEntry(reader)
  if (!reader.isDone) throw new Error('an entry is too long')
  return entry
}

function readEntry(reader: EntryReader): JournalEntry {
  switch (reader.u8()) {
    case Kind.RECORDS: {
      const namespace = reader.name()
      const count = reader.u32()
      const changes: RecordChange[] = []
      for (let i = 0; i < count; i++) changes.push(readChange(reader))
      return { kind: 'records', namespace, changes }
    }
    case Kind.INDEX:
      return { kind: 'index', definition: reader.sized().toString('utf8') }
    case Kind.NO_INDEX:
      return { kind: 'no index', namespace: reader.name(), name: reader.name() }
    case Kind.CLOCK:
      return { kind: 'clock', offset: reader.f64() }
  }
  throw new Error('an entry of an unknown kind')
}

function writeChange(writer: ByteWriter, { digest, state }: RecordChange): void {
  writer.bytes(digest)
  if (state === undefined) return writer.u8(Flag.DELETED)
  const { storedKey, bins } = state
  writer.u8(Flag.PRESENT | (storedKey ? Flag.WITH_KEY : 0))
  writer.u16(state.generation)
  writer.u32(state.voidTime)
  writer.f64(state.lastUpdate)
  writer.f64(state.version)
  writer.name(state.setName)
  if (storedKey) writeParticle(writer, storedKey)
  writer.u32(bins.size)
  for (const [name, particle] of bins) {
    writer.name(name)
    writeParticle(writer, particle)
  }
}

function readChange(reader: EntryReader): RecordChange {
  const digest = reader.bytes(DIGEST_SIZE)
  const flags = reader.u8()
  if (flags === Flag.DELETED) return { digest, state: undefined }
  if (!(flags & Flag.PRESENT)) throw new Error('a record with unknown flags')
  const generation = reader.u16()
  const voidTime = reader.u32()
  const lastUpdate = reader.f64()
  const version = reader.f64()
  const setName = reader.name()
  const storedKey = flags & Flag.WITH_KEY ? readParticle(reader) : undefined
  const bins = new Map<string, Particle>()
  for (let left = reader.u32(); left > 0; left--) bins.set(reader.name(), readParticle(reader))
  return {
    digest,
    state: new RecordState(digest, setName, bins, generation, voidTime, lastUpdate, version, storedKey),
  }
}

function writeParticle(writer: ByteWriter, particle: Particle): void {
  writer.u8(particle.type)
  writeBytes(writer, particle.wire)
}

function readParticle(reader: EntryReader): Particle {
  return Particle.fromStored(reader.u8(), reader.sized())
}

function writeBytes(writer: ByteWriter, bytes: Buffer): void {
  writer.u32(bytes.length)
  writer.bytes(bytes)
}
