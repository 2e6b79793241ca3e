import 'reflect-metadata'
import { expect } from 'chai'
import { Max, MinLength, ValidateNested } from 'class-validator'
import {
  Bin,
  collection,
  Embeddable,
  Embedded,
  fromPlain,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  SkeinError,
  ValidationFailedError,
} from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Address {
  @MinLength(3) @Bin() street!: string
}
@Embeddable()
class Task {
  @Key() id!: string
  @Max(10) @Bin() weight!: number
}
@Embeddable()
class Since {
  @MinLength(3) @Bin() note!: string
}
@Record({ set: 'member' })
class Member {
  @Key() id!: string
  @MinLength(3) @Bin() name!: string
  @Embedded(() => Address) @ValidateNested() home?: Address
  @Embedded(() => Address, { as: 'array' }) @ValidateNested() places: Address[] = []
  @Embedded(() => Address, { as: 'map' }) @ValidateNested() byName = new Map<string, Address>()
  @OneToMany(() => Task, { strategy: 'consolidate' }) tasks = collection<Task>()
  @ManyToMany(() => Member, 'knownBy', { owner: true, attributes: () => Since }) knows = collection<Member, Since>()
  @ManyToMany(() => Member, 'knows', { attributes: () => Since }) knownBy = collection<Member, Since>()
}
@Record({ set: 'plainmember' })
class PlainMember {
  @Key() id!: string
  @MinLength(3) @Bin() name!: string
}

/** Parses a request body: `constructor` and `__proto__` become own properties. */
const body = (text: string): never => JSON.parse(text) as never

inEachMode(
  'a request body',
  (bed) => {
    const stored = (id: string): Promise<Member | null> => bed().db.session().find(Member, id)

    for (const value of ['{}', '1', '\\"x\\"', 'null', 'false', '[]']) {
      it(`cannot hide the rules of a new entity behind a constructor of ${value}`, async () => {
        const id = bed().fresh()
        const text = `{"id":"${id}","name":"x","constructor":${value.replaceAll('\\', '')}}`
        expect(await rejection(() => bed().db.session().create(Member, body(text)))).to.have.property(
          'code',
          'SKEIN_2310',
        )
        for (const memberClass of [Member, PlainMember]) {
          const given = Object.assign(new memberClass(), body(text))
          const error = await rejection(() => bed().db.session().save(given))
          expect(error).to.be.instanceOf(ValidationFailedError)
          expect((error as Error).message).to.match(/name must be longer[\s\S]*constructor/)
        }
        expect(await stored(id)).to.equal(null)
      })
    }

    it('cannot hide the rules of a loaded entity', async () => {
      const id = bed().fresh()
      await bed()
        .db.session()
        .save(Object.assign(new PlainMember(), { id, name: 'good' }))
      const session = bed().db.session()
      const member = await session.load(PlainMember, id)
      Object.assign(member, body('{"name":"x","constructor":{}}'))
      expect(await rejection(() => session.flush())).to.be.instanceOf(ValidationFailedError)
      expect(await rejection(() => session.save(member))).to.be.instanceOf(ValidationFailedError)
    })

    it('cannot hide the rules of what is stored inside the record', async () => {
      const bad = '{"street":"x","constructor":{}}'
      const changes: ((member: Member) => void)[] = [
        (member) => (member.home = body(bad)),
        (member) => (member.home = body('{"street":"x"}')),
        (member) => (member.places = [body(bad)]),
        (member) => (member.byName = new Map([['a', body(bad)]])),
        (member) => member.tasks.add(body('{"id":"t","weight":99,"constructor":{}}')),
        (member) => member.knows.link(member, body('{"note":"x","constructor":{}}')),
      ]
      for (const change of changes) {
        const member = Object.assign(new Member(), { id: bed().fresh(), name: 'good' })
        change(member)
        const error = await rejection(() => bed().db.session().save(member))
        expect(error, String(change)).to.be.instanceOf(ValidationFailedError)
        expect(await stored(member.id)).to.equal(null)
      }
    })

    it('in fromPlain cannot replace the class of the entity or of a part of it', async () => {
      for (const text of [
        '{"id":"a","name":"good","constructor":{"prototype":{"x":1}}}',
        '{"id":"a","name":"good","home":{"street":"long","constructor":"x"}}',
        '{"id":"a","name":"good","places":[{"street":"long","constructor":1}]}',
      ]) {
        const error = await rejection(() => fromPlain(Member, body(text)))
        expect(error, text).to.be.instanceOf(SkeinError)
        expect((error as Error).message).to.include('constructor')
      }
    })
  },
  { entities: [Member, PlainMember] },
)
