import { op } from '../raw-message.js'

const READ = 0x01
export const READ_ALL = 0x03
export const WRITE = 0x01
const DELETE = 0x03
const GENERATION = 0x04
const GENERATION_GT = 0x08
const CREATE_ONLY = 0x20
const RESPOND_ALL = 0x80
const REPLACE = 0x10

type Content = Readonly<Record<string, bigint | string>>

const nil = Buffer.alloc(0)
const text = (value: string) => Buffer.from(value)
const int = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
const float = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}
const hex = (value: string) => Buffer.from(value, 'hex')

export const writeInt = (name: string, value: bigint) => op(2, 1, name, int(value))
export const writeText = (name: string, value: string) => op(2, 3, name, text(value))
const writeNil = (name: string) => op(2, 0, name, nil)
const read = (name: string) => op(1, 0, name, nil)
const append = op(9, 3, 's', text('cd'))
const prepend = op(10, 3, 's', text('cd'))
const increment = (value: bigint) => op(5, 1, 'a', int(value))
const touch = op(11, 0, '', nil)
const deleteAll = op(14, 0, '', nil)
const expWrite = (payload: string) => op(8, 4, 'w', hex(payload))

/** A request to a record, and what a real server was seen to answer and to hold afterwards. */
export interface Observed {
  readonly name: string
  readonly before?: Content
  /** The flags info1, info2 and info3; a plain write unless given. */
  readonly info?: readonly number[]
  readonly ops?: readonly Buffer[]
  readonly generation?: number
  readonly ttl?: number
  readonly set?: string
  readonly answers: string
  readonly after: string
}

const ONE: Content = { a: 1n }
const UNTOUCHED = 'gen 1 a=1'
const NOTHING = 'rc 2'

export const OBSERVED: readonly Observed[] = [
  { name: 'a write without operations', before: ONE, ops: [], answers: 'rc 4 gen 0', after: UNTOUCHED },
  { name: 'deleting the last bin', before: ONE, ops: [writeNil('a')], answers: 'rc 0 gen 0', after: NOTHING },
  { name: 'deleting a bin of a missing record', ops: [writeNil('a')], answers: 'rc 2 gen 0', after: NOTHING },
  { name: 'deleting a missing bin', before: ONE, ops: [writeNil('z')], answers: 'rc 0 gen 2', after: 'gen 2 a=1' },
  {
    name: 'a replace that deletes a bin',
    before: ONE,
    info: [0, WRITE, REPLACE],
    ops: [writeNil('a')],
    answers: 'rc 4 gen 0',
    after: UNTOUCHED,
  },
  {
    name: 'a replace that adds',
    before: ONE,
    info: [0, WRITE, REPLACE],
    ops: [increment(1n)],
    answers: 'rc 4 gen 0',
    after: UNTOUCHED,
  },
  {
    name: 'a read operation without the read flag',
    before: ONE,
    ops: [writeInt('a', 2n), read('a')],
    answers: 'rc 4 gen 0',
    after: UNTOUCHED,
  },
  {
    name: 'writes and a read of everything',
    before: ONE,
    info: [READ_ALL, WRITE],
    ops: [writeInt('a', 2n), writeInt('b', 2n), read('')],
    answers: 'rc 0 gen 2 1:a=2 1:b=2',
    after: 'gen 2 a=2 b=2',
  },
  {
    name: 'a write and reads when every operation is answered',
    before: ONE,
    info: [READ, WRITE | RESPOND_ALL],
    ops: [writeInt('a', 2n), read('a'), read('z')],
    answers: 'rc 0 gen 2 2:a=nil 1:a=2 1:z=nil',
    after: 'gen 2 a=2',
  },
  {
    name: 'a read of everything when every operation is answered',
    before: ONE,
    info: [READ_ALL, WRITE | RESPOND_ALL],
    ops: [writeInt('a', 2n), read('')],
    answers: 'rc 4 gen 0',
    after: UNTOUCHED,
  },
  { name: 'append', before: { s: 'ab' }, ops: [append], answers: 'rc 0 gen 2', after: 'gen 2 s="abcd"' },
  { name: 'append to a missing bin', before: ONE, ops: [append], answers: 'rc 0 gen 2', after: 'gen 2 a=1 s="cd"' },
  { name: 'append to an integer', before: { s: 1n }, ops: [append], answers: 'rc 12 gen 1', after: 'gen 1 s=1' },
  { name: 'prepend', before: { s: 'ab' }, ops: [prepend], answers: 'rc 0 gen 2', after: 'gen 2 s="cdab"' },
  { name: 'add to a missing record', ops: [increment(4n)], answers: 'rc 0 gen 1', after: 'gen 1 a=4' },
  {
    name: 'add beyond the largest integer',
    before: { a: 2n ** 63n - 1n },
    ops: [increment(1n)],
    answers: 'rc 0 gen 2',
    after: 'gen 2 a=-9223372036854775808',
  },
  {
    name: 'add of a double to an integer',
    before: ONE,
    ops: [op(5, 2, 'a', float(1.5))],
    answers: 'rc 12 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'the delete operation and a write',
    before: ONE,
    ops: [deleteAll, writeInt('c', 3n)],
    answers: 'rc 0 gen 2',
    after: 'gen 2 c=3',
  },
  { name: 'the delete operation on a missing record', ops: [deleteAll], answers: 'rc 2 gen 0', after: NOTHING },
  { name: 'touch of a missing record', ops: [touch], answers: 'rc 2 gen 0', after: NOTHING },
  { name: 'a read of nothing', before: ONE, info: [READ, 0], ops: [], answers: 'rc 4 gen 1', after: UNTOUCHED },
  {
    name: 'select of missing bins',
    before: ONE,
    info: [READ, 0],
    ops: [read('z')],
    answers: 'rc 0 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'a write that says a greater generation',
    before: ONE,
    info: [0, WRITE | GENERATION_GT],
    ops: [writeInt('a', 2n)],
    generation: 5,
    answers: 'rc 0 gen 2',
    after: 'gen 2 a=2',
  },
  {
    name: 'a write that says an equal generation but must say a greater',
    before: ONE,
    info: [0, WRITE | GENERATION_GT],
    ops: [writeInt('a', 2n)],
    generation: 1,
    answers: 'rc 3 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'a write that expects generation 0 of a missing record',
    info: [0, WRITE | GENERATION],
    ops: [writeInt('a', 2n)],
    answers: 'rc 0 gen 1',
    after: 'gen 1 a=2',
  },
  {
    name: 'a delete that expects another generation',
    before: ONE,
    info: [0, DELETE | GENERATION],
    ops: [],
    generation: 9,
    answers: 'rc 3 gen 0',
    after: UNTOUCHED,
  },
  {
    name: 'a read with the name of another set',
    before: ONE,
    info: [READ_ALL, 0],
    ops: [],
    set: 'other',
    answers: 'rc 0 gen 1 1:a=1',
    after: UNTOUCHED,
  },
  {
    name: 'an unknown operation',
    before: ONE,
    ops: [op(99, 1, 'a', int(1n))],
    answers: 'rc 4 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'a bin name of 16 characters',
    before: ONE,
    ops: [writeInt('abcdefghijklmnop', 1n)],
    answers: 'rc 21 gen 0',
    after: UNTOUCHED,
  },
  {
    name: 'a bin name of 15 characters',
    before: ONE,
    ops: [writeInt('abcdefghijklmno', 1n)],
    answers: 'rc 0 gen 2',
    after: 'gen 2 a=1 abcdefghijklmno=1',
  },
  { name: 'an empty bin name', before: ONE, ops: [writeInt('', 1n)], answers: 'rc 0 gen 2', after: 'gen 2 a=1 =1' },
  {
    name: 'a new record that keeps its time to live',
    ops: [writeInt('a', 1n)],
    ttl: -2,
    answers: 'rc 0 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'a create of a record that exists',
    before: ONE,
    info: [0, WRITE | CREATE_ONLY],
    ops: [writeInt('a', 2n)],
    answers: 'rc 5 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'an expression write',
    before: ONE,
    info: [0, WRITE | RESPOND_ALL],
    ops: [expWrite('920500')],
    answers: 'rc 0 gen 2 8:w=nil',
    after: 'gen 2 a=1 w=5',
  },
  {
    name: 'an expression write that must create its bin',
    before: { w: 1n },
    info: [0, WRITE | RESPOND_ALL],
    ops: [expWrite('920501')],
    answers: 'rc 6 gen 1',
    after: 'gen 1 w=1',
  },
  {
    name: 'an expression write that must find its bin',
    before: ONE,
    info: [0, WRITE | RESPOND_ALL],
    ops: [expWrite('920502')],
    answers: 'rc 17 gen 1',
    after: UNTOUCHED,
  },
  {
    name: 'an expression write of nil',
    before: { w: 1n, a: 1n },
    info: [0, WRITE | RESPOND_ALL],
    ops: [expWrite('92c000')],
    answers: 'rc 26 gen 1',
    after: 'gen 1 w=1 a=1',
  },
  {
    name: 'an expression write of nil that may delete its bin',
    before: { w: 1n, a: 1n },
    info: [0, WRITE | RESPOND_ALL],
    ops: [expWrite('92c004')],
    answers: 'rc 0 gen 2 8:w=nil',
    after: 'gen 2 a=1',
  },
]
