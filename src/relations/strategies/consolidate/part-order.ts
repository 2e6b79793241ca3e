import { SkeinError } from '../../../errors/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { BinType, EmbeddableModel, OrderModel, RangeBound } from '../../../model/index.js'
import { listPutFound, listRemoveFound } from '../../../plan/operations.js'
import type { FoundEntry, ListPutFound, ListRemoveFound } from '../../../plan/operation.js'
import { DoubleValue, isDouble, type Value } from '../../../plan/value.js'

/** The values of a child in one order and its id; undefined where it lacks one of the values and is not in the order. */
export type Tuple = readonly Value[] | undefined

/** The values of a child in one order; null where it lacks one. */
export type OrderValues = readonly Value[]

interface Field {
  readonly name: string
  readonly bin: string
  readonly kind: BinType['kind']
  readonly type: 'int' | 'str' | 'float'
}

/** A further order of consolidated children: a sorted list of tuples in a bin beside their map. */
export class PartOrder {
  readonly name: string
  readonly bin: string
  readonly #fields: readonly Field[]
  readonly #part: EmbeddableModel

  constructor({ name, bin, properties }: OrderModel, part: EmbeddableModel) {
    this.name = name
    this.bin = bin
    this.#part = part
    this.#fields = properties.map((property) => {
      const { bin: field, type } = part.properties.find((each) => each.name === property)!
      return { name: property, bin: field, kind: type.kind, type: expressionType(type) }
    })
  }

  /** The values of a stored child. */
  valuesOf(stored: Value): OrderValues {
    const fields = stored as { readonly [bin: string]: Value | undefined }
    return this.#fields.map(({ bin }) => fields[bin] ?? null)
  }

  /** True where other sessions may change values of a tuple that a change here does not name. */
  get isOfSeveral(): boolean {
    return this.#fields.length > 1
  }

  /** A tuple as it was read, where the client shows integral doubles as integers. */
  normal(tuple: Value): Value {
    if (!Array.isArray(tuple)) return tuple
    return (tuple as readonly Value[]).map((value, i) =>
      this.#fields[i]?.kind === 'double' && typeof value === 'number' ? new DoubleValue(value) : value,
    )
  }

  /** The id of the child that a tuple belongs to. */
  idIn(tuple: Value): KeyValue {
    const id = (tuple as readonly Value[])[this.#fields.length] as KeyValue
    return this.#part.key!.kind === 'bigint' ? BigInt(id as number) : id
  }

  /** The end of a range: the first values of a tuple, or all of them and an id. */
  bound(bound: RangeBound): Value {
    const values = Array.isArray(bound) ? (bound as readonly unknown[]) : [bound]
    return values.map((value, i) => (i < this.#fields.length ? this.#stored(this.#fields[i], value) : (value as Value)))
  }

  /** Takes the tuples out that the record holds of children, whoever wrote them. */
  removal(within: string, entries: readonly FoundEntry[]): ListRemoveFound {
    return listRemoveFound(this.bin, { within, fields: this.#found, entries })
  }

  /** Puts the tuples in that the record holds of children by now, in place of those that this session takes them to have. */
  correction(within: string, entries: readonly FoundEntry[], assumed: readonly Value[]): ListPutFound {
    return listPutFound(this.bin, { within, fields: this.#found, entries, assumed })
  }

  get #found(): ListRemoveFound['fields'] {
    return this.#fields.map(({ bin: name, type }) => ({ name, type }))
  }

  /** Throws for a tuple with NaN, by which the server would lose others. */
  checkComparable(tuple: readonly Value[]): void {
    this.#fields.forEach(({ name }, i) => {
      const value = tuple[i]
      if (Number.isNaN(isDouble(value) ? value.value : value)) throw this.#incomparable(name, NaN)
    })
  }

  #stored({ name, kind, type }: Field, value: unknown): Value {
    if (Number.isNaN(value)) throw this.#incomparable(name, value)
    if (kind === 'date' && value instanceof Date) return value.getTime()
    if (kind === 'double' && typeof value === 'number') return new DoubleValue(value)
    if (type === 'str' && typeof value === 'string') return value
    if (type === 'int' && kind !== 'date' && (typeof value === 'bigint' || Number.isSafeInteger(value)))
      return value as number
    throw this.#incomparable(name, value)
  }

  #incomparable(property: string, value: unknown): SkeinError {
    const message = `${this.#part.name}.${property}: ${describeKey(value)} cannot be compared in the order '${this.name}'.`
    const fix = 'Give a value of the type that is declared, and not NaN.'
    return new SkeinError('SKEIN_2201', message, { className: this.#part.name, property, fix })
  }
}

export function tupleOf(values: OrderValues, id: KeyValue): Tuple {
  return values.includes(null) ? undefined : [...values, id]
}

function expressionType(type: BinType): Field['type'] {
  if (type.kind === 'string') return 'str'
  if (type.kind === 'enum') return type.values.every((value) => typeof value === 'string') ? 'str' : 'int'
  return type.kind === 'double' ? 'float' : 'int'
}
