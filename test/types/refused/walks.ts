import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'

@Embeddable()
class Since {
  @Bin() kind!: string
}

@Record({ set: 'person' })
class Person {
  @Key() id!: string
  @Bin() city!: string
  @ManyToMany(() => Person, { attributes: () => Since }) follows = collection<Person, Since>()
  @OneToMany(() => Note, 'author') notes = collection<Note>()
}

@Record({ set: 'note' })
class Note {
  @Key() id!: number
  @Bin() text!: string
  @ManyToOne(() => Person, 'notes') author = ref<Person>()
}

declare const session: Session
declare const alice: Person

export const keys: Promise<number[]> = session.walk(alice).out('follows').out('notes').keys()
export const paths: Promise<(readonly [Person, Person, Note])[]> = session
  .walk(alice)
  .out('follows', { where: { kind: { startsWith: 'f' } }, to: { city: 'Bern' } })
  .out('notes', { to: { text: { contains: 'x' } }, last: 3 })
  .paths()
export const back: Promise<Person[]> = session.walk(Note, [1, 2]).out('author', { limit: 3 }).entities()

export function refused(): unknown {
  // expect: Argument of type '"city"' is not assignable to parameter of type
  session.walk(alice).out('city')
  // expect: Argument of type '"folows"' is not assignable to parameter of type
  session.walk(alice).out('folows')
  // expect: Argument of type '"follows"' is not assignable to parameter of type
  session.walk(alice).out('notes').out('follows')
  // expect: 'knd' does not exist in type
  session.walk(alice).out('follows', { where: { knd: 'friend' } })
  // expect: Type 'number' is not assignable to type
  session.walk(alice).out('follows', { where: { kind: 3 } })
  // expect: Type '{ kind: string; }' is not assignable to type 'undefined'
  session.walk(alice).out('notes', { where: { kind: 'friend' } })
  // expect: 'cty' does not exist in type
  session.walk(alice).out('follows', { to: { cty: 'Bern' } })
  // expect: 'lmit' does not exist in type
  session.walk(alice).out('follows', { lmit: 3 })
  // expect: Type 'Promise<number[]>' is not assignable to type 'Promise<string[]>'
  const wrong: Promise<string[]> = session.walk(alice).out('notes').keys()
  // expect: No overload matches this call
  session.walk(Note, 'text')
  return wrong
}
