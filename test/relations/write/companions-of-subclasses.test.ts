import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  Key,
  ManyToMany,
  Record,
  Sharded,
  type Collection,
  type Database,
  type EntityClass,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

/** A class whose links to its own kind lie beside its records, on both sides. */
interface Linked {
  readonly id: string
  readonly pals: Collection<Linked>
  readonly palOf: Collection<Linked>
}

@Record({ set: 'csub_hash', discriminator: 'kind' })
class Hashed implements Linked {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 3, subkeys: 'palsIn' })
  @ManyToMany(() => Hashed, 'palOf', { owner: true })
  pals = collection<Hashed>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'palOfIn' })
  @ManyToMany(() => Hashed, 'pals')
  palOf = collection<Hashed>()
}

@Record({ discriminatorValue: 'special' })
class SpecialHashed extends Hashed {
  @Bin() extra?: string
}

@Record({ set: 'csub_day', discriminator: 'kind' })
class Dated implements Linked {
  @Key() id!: string
  @Sharded({ by: 'day', subkeys: 'palsIn' })
  @ManyToMany(() => Dated, 'palOf', { owner: true })
  pals = collection<Dated>()
  @Sharded({ by: 'day', subkeys: 'palOfIn' }) @ManyToMany(() => Dated, 'pals') palOf = collection<Dated>()
}

@Record({ discriminatorValue: 'special' })
class SpecialDated extends Dated {
  @Bin() extra?: string
}

@Record({ set: 'csub_one', discriminator: 'kind' })
class Beside implements Linked {
  @Key() id!: string
  @Companion({ subkeys: 'palsIn' })
  @ManyToMany(() => Beside, 'palOf', { owner: true })
  pals = collection<Beside>()
  @Companion({ subkeys: 'palOfIn' }) @ManyToMany(() => Beside, 'pals') palOf = collection<Beside>()
}

@Record({ discriminatorValue: 'special' })
class SpecialBeside extends Beside {
  @Bin() extra?: string
}

@Record({ set: 'csub_grow', discriminator: 'kind' })
class Growing implements Linked {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 2, when: { members: 2 }, subkeys: 'palsIn' })
  @ManyToMany(() => Growing, 'palOf', { owner: true })
  pals = collection<Growing>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 2 }, subkeys: 'palOfIn' })
  @ManyToMany(() => Growing, 'pals')
  palOf = collection<Growing>()
}

@Record({ discriminatorValue: 'special' })
class SpecialGrowing extends Growing {
  @Bin() extra?: string
}

const LAYOUTS: { readonly [name: string]: readonly [EntityClass<Linked>, EntityClass<Linked>] } = {
  'hash shards': [Hashed, SpecialHashed],
  'buckets of days': [Dated, SpecialDated],
  'a companion': [Beside, SpecialBeside],
  'shards on demand': [Growing, SpecialGrowing],
}

for (const mode of MODES)
  for (const [layout, [Base, Special]] of Object.entries(LAYOUTS))
    describe(`links between records of a subclass, in ${layout} (${mode})`, () => {
      let db: Database
      useDatabase(mode, [Base, Special], (opened) => ({ db } = opened))

      const load = (): Promise<Linked[]> =>
        db.session().loadMany(Special, ['ada', 'bob', 'eve'], { with: ['pals', 'palOf'] as never[] })
      const links = async (): Promise<unknown> =>
        (await load()).map(({ pals, palOf }) =>
          [pals, palOf].map(({ items }) =>
            items
              .map(({ id }) => id)
              .sort()
              .join(),
          ),
        )
      const findings = async (): Promise<string[]> => {
        const found: string[] = []
        for await (const { kind, message } of db.verify([Base], { settle: 0 })) found.push(`${kind} ${message}`)
        return found
      }

      it('are stored on both sides where the first ones of an owner lead to itself and to others', async () => {
        await db.withSession((session) => {
          for (const id of ['ada', 'bob', 'eve']) session.create(Special, { id })
        })
        await db.withSession(async (session) => {
          const [ada, bob, eve] = await session.loadMany(Special, ['ada', 'bob', 'eve'])
          ada.pals.add(ada)
          ada.pals.add(bob)
          ada.pals.add(eve)
          ada.palOf.add(eve)
          bob.palOf.add(bob)
        })
        expect(await links()).to.deep.equal([
          ['ada,bob,eve', 'ada,eve'],
          ['bob', 'ada,bob'],
          ['ada', 'ada'],
        ])
        expect(await findings()).to.deep.equal([])
      })
    })
