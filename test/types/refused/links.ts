import { Bin, Key, ManyToMany, ManyToOne, Record, collection, ref } from 'skein'

@Record({ set: 'person' })
export class Person {
  @Key() id!: string
  @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
  // expect: Declare it with the class of the attributes, too: followers = collection<…, …>()
  @ManyToMany(() => Person, { through: () => Follow })
  followers = collection<Person>()
}

@Record({ set: 'follow', key: '{from}:{to}' })
export class Follow {
  @ManyToOne(() => Person, 'follows') from = ref<Person>()
  @ManyToOne(() => Person) to = ref<Person>()
  @Bin() kind?: string
}

@Record({ set: 'other', key: '{from}:{to}' })
export class Other {
  // expect: The other side, follows, is a relation to another class.
  @ManyToOne(() => Person, 'follows')
  from = ref<Person>()
  @Bin() kinds?: string[]
}

const person = new Person()
person.follows.link('bob', { kind: 'friend' })
// expect: 'kinds' does not exist
person.follows.link('bob', { kinds: 'friend' })
// expect: Type 'number' is not assignable to type 'string'
person.follows.link('bob', { kind: 5 })
export const done = person
