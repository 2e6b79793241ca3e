import { BeforeSave, Bin, CreatedAt, Embeddable, Embedded, Key, Record, Sharded, Version } from 'skein'

@Embeddable()
class Address {
  @Bin() city!: string
}

// expect: 'foo' does not exist in type 'RecordOptions'
@Record({ set: 'a', foo: 1 })
export class A {
  // expect: A key is a string, a number, a bigint or a Uint8Array, as its type says; date is something else.
  @Key()
  date!: Date
  // expect: A key is a string, a number, a bigint or a Uint8Array, as its type says; typed is something else.
  @Key({ type: 'int' })
  typed!: string
  // expect: Type '"double"' is not assignable to type
  @Key({ type: 'double' })
  double!: number
  // expect: The type given to @Bin is not the type of the property price.
  @Bin({ type: 'double' })
  price!: string
  // expect: Did you mean '"double"'?
  @Bin({ type: 'doubel' })
  typo!: number
  // expect: The type given to @Bin is not the type of the property tags.
  @Bin({ type: { list: 'string' } })
  tags: number[] = []
  // expect: The type given to @Bin is not the type of the property pairs.
  @Bin({ type: { list: { tuple: ['date', 'string'] }, order: 'sorted' } })
  pairs: [Date, number][] = []
  // expect: order: "ascending"; … is not assignable to type
  @Bin({ type: { list: 'int', order: 'ascending' } })
  ascending: number[] = []
  // expect: The type given to @Bin is not the type of the property set.
  @Bin({ type: { set: 'int' } })
  set = new Set<string>()
  // expect: The type given to @Bin is not the type of the property map.
  @Bin({ type: { map: 'date', key: 'int' } })
  map = new Map<string, Date>()
  // expect: The type given to @Bin is not the type of the property letter.
  @Bin({ type: { enum: ['a', 'b'] } })
  letter?: 'a' | 'c' | null
  // expect: address is not one part of the embedded class. For several say { as: 'array' } or { as: 'map' }.
  @Embedded(() => Address)
  address?: Address[]
  // expect: With as: 'array', former is an array of the embedded class.
  @Embedded(() => Address, { as: 'array' })
  former!: Address
  // expect: With as: 'map', byYear is a Map of the embedded class, with keys of the given type.
  @Embedded(() => Address, { as: 'map', key: 'int' })
  byYear = new Map<string, Address>()
  // expect: The @Version property version is a number.
  @Version()
  version?: string
  // expect: The @CreatedAt property createdAt is a Date.
  @CreatedAt()
  createdAt?: number
  // expect: Only a collection or a counter can be sharded; text is neither.
  @Sharded({ by: 'hash', shards: 8 })
  text = 'x'
  // expect: Property 'shards' is missing
  @Sharded({ by: 'hash' })
  views = 3
  // expect: Target signature provides too few arguments. Expected 1 or more, but got 0.
  @BeforeSave()
  check(times: number): number {
    return times
  }
}
