import {
  DeletedAt,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Sharded,
  collection,
  ref,
  type EntityClass,
  type Ref,
  type Session,
} from 'skein'

@Record({ set: 'moved-farm' })
export class Farm {
  @Key() id!: number
  @OneToMany(() => Cow, 'farm', { onDelete: 'cascade' }) cows = collection<Cow>()
  @OneToMany(() => Goat, 'farm', { strategy: 'secondaryIndex', onDelete: 'cascade' }) goats = collection<Goat>()
  @OneToMany(() => Pig, 'farm', { strategy: 'secondaryIndex', onDelete: 'cascade' }) pigs = collection<Pig>()
  @Sharded({ by: 'hash', shards: 2 }) @OneToMany(() => Hen, 'farm', { onDelete: 'cascade' }) hens = collection<Hen>()
  @OneToMany(() => Sheep, 'farm', { onDelete: 'cascade' }) sheep = collection<Sheep>()
  @OneToOne(() => Dog, 'farm', { owner: true, onDelete: 'cascade' }) dog = ref<Dog>()
  @OneToOne(() => Cat, 'farm', { onDelete: 'cascade' }) cat = ref<Cat>()
  @OneToOne(() => Owl, 'farm', { owner: true, onDelete: 'cascade' }) owl = ref<Owl>()
}

/** Belongs to a list and to links as well, which have to stay as they are when it does. */
@Record({ set: 'moved-cow' })
export class Cow {
  @Key() id!: number
  @ManyToOne(() => Farm, 'cows') farm = ref<Farm>()
  @ManyToOne(() => Stable, 'cows') stable = ref<Stable>()
  @ManyToMany(() => Vet, 'cows') vets = collection<Vet>()
}

@Record({ set: 'moved-stable' })
class Stable {
  @Key() id!: number
  @OneToMany(() => Cow, 'stable') cows = collection<Cow>()
  @OneToMany(() => Goat, 'stable') goats = collection<Goat>()
}

@Record({ set: 'moved-vet' })
class Vet {
  @Key() id!: number
  @ManyToMany(() => Cow, 'vets', { owner: true }) cows = collection<Cow>()
}

@Record({ set: 'moved-goat' })
export class Goat {
  @Key() id!: number
  @ManyToOne(() => Farm, 'goats') farm = ref<Farm>()
  @ManyToOne(() => Stable, 'goats') stable = ref<Stable>()
  @OneToOne(() => Bell, 'goat', { owner: true }) bell = ref<Bell>()
}

@Record({ set: 'moved-bell' })
class Bell {
  @Key() id!: number
  @OneToOne(() => Goat, 'bell') goat = ref<Goat>()
}

@Record({ set: 'moved-pig' })
class Pig {
  @Key() id!: number
  @ManyToOne(() => Farm, 'pigs') farm = ref<Farm>()
}

@Embeddable()
class Weighing {
  @Key() id!: string
  @ManyToOne(() => Pig) pig = ref<Pig>()
}

@Record({ set: 'moved-diary' })
class Diary {
  @Key() id!: number
  @OneToMany(() => Weighing, { strategy: 'consolidate', inverseIndex: { pig: { onTargetDelete: 'delete' } } })
  weighings = collection<Weighing>()
}

/** Has members of its own that go with it, so its delete begins with a mark. */
@Record({ set: 'moved-hen' })
class Hen {
  @Key() id!: number
  @ManyToOne(() => Farm, 'hens') farm = ref<Farm>()
  @OneToMany(() => Egg, 'hen', { onDelete: 'cascade' }) eggs = collection<Egg>()
}

@Record({ set: 'moved-egg' })
class Egg {
  @Key() id!: number
  @ManyToOne(() => Hen, 'eggs') hen = ref<Hen>()
}

@Record({ set: 'moved-sheep' })
export class Sheep {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Farm, 'sheep') farm = ref<Farm>()
  @OneToMany(() => Lamb, 'sheep', { onDelete: 'cascade' }) lambs = collection<Lamb>()
}

@Record({ set: 'moved-lamb' })
class Lamb {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Sheep, 'lambs') sheep = ref<Sheep>()
}

@Record({ set: 'moved-dog' })
class Dog {
  @Key() id!: number
  @OneToOne(() => Farm, 'dog') farm = ref<Farm>()
  @OneToOne(() => Kennel, 'dog', { owner: true, onDelete: 'cascade' }) kennel = ref<Kennel>()
}

@Record({ set: 'moved-kennel' })
class Kennel {
  @Key() id!: number
  @OneToOne(() => Dog, 'kennel') dog = ref<Dog>()
}

@Record({ set: 'moved-cat' })
class Cat {
  @Key() id!: number
  @OneToOne(() => Farm, 'cat', { owner: true }) farm = ref<Farm>()
}

@Record({ set: 'moved-owl' })
class Owl {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @OneToOne(() => Farm, 'owl') farm = ref<Farm>()
}

export const CLASSES = [Farm, Cow, Stable, Vet, Goat, Bell, Pig, Diary, Hen, Egg, Sheep, Lamb, Dog, Kennel, Cat, Owl]

/** Classes of those that the children have. */
export const RELATED: readonly EntityClass<{ id: number }>[] = [Stable, Vet, Bell, Egg, Lamb, Kennel]

interface Child {
  id: number
  farm: Ref<Farm>
}

export interface Kind {
  readonly type: EntityClass<Child>
  readonly set: string
  readonly relation: 'cows' | 'goats' | 'pigs' | 'hens' | 'sheep' | 'dog' | 'cat' | 'owl'
  /** Command that deletes it while others may still move it; none where its delete begins with a mark, after which nobody can. */
  readonly deletedBy?: 'delete' | 'write'
  /** Findings of verify when its farm is gone. */
  readonly left?: readonly string[]
  /** Gives the farm a child that has links of its own. */
  readonly store: (session: Session, farm: Farm, id: number) => void
}

export const KINDS: Readonly<globalThis.Record<string, Kind>> = {
  'of a key list': {
    type: Cow,
    set: 'moved-cow',
    relation: 'cows',
    store(session, farm, id) {
      const cow = session.create(Cow, { id })
      cow.stable.set(session.create(Stable, { id }))
      session.create(Vet, { id }).cows.add(cow)
      farm.cows.add(cow)
    },
  },
  'by index': {
    type: Goat,
    set: 'moved-goat',
    relation: 'goats',
    deletedBy: 'delete',
    store(session, farm, id) {
      const goat = session.create(Goat, { id })
      goat.stable.set(session.create(Stable, { id }))
      goat.bell.set(session.create(Bell, { id }))
      farm.goats.add(goat)
    },
  },
  'with consolidated children that refer to it': {
    type: Pig,
    set: 'moved-pig',
    relation: 'pigs',
    store(session, farm, id) {
      const pig = session.create(Pig, { id })
      const weighing = Object.assign(new Weighing(), { id: 'first' })
      weighing.pig.set(pig)
      session.create(Diary, { id }).weighings.add(weighing)
      farm.pigs.add(pig)
    },
  },
  'with members of its own': {
    type: Hen,
    set: 'moved-hen',
    relation: 'hens',
    store(session, farm, id) {
      const hen = session.create(Hen, { id })
      hen.eggs.add(session.create(Egg, { id }))
      farm.hens.add(hen)
    },
  },
  'that is deleted softly, with its members': {
    type: Sheep,
    set: 'moved-sheep',
    relation: 'sheep',
    deletedBy: 'write',
    // What is deleted softly keeps the key of its parent.
    left: ['Sheep 1 holds Farm 1 in farm, which has no record.'],
    store(session, farm, id) {
      const sheep = session.create(Sheep, { id })
      sheep.lambs.add(session.create(Lamb, { id }))
      farm.sheep.add(sheep)
    },
  },
  'of a pair, with a partner of its own': {
    type: Dog,
    set: 'moved-dog',
    relation: 'dog',
    store(session, farm, id) {
      const dog = session.create(Dog, { id })
      dog.kennel.set(session.create(Kennel, { id }))
      farm.dog.set(dog)
    },
  },
  'of a pair that it owns': {
    type: Cat,
    set: 'moved-cat',
    relation: 'cat',
    deletedBy: 'delete',
    store: (session, farm, id) => void farm.cat.set(session.create(Cat, { id })),
  },
  'of a pair, that is deleted softly': {
    type: Owl,
    set: 'moved-owl',
    relation: 'owl',
    deletedBy: 'write',
    store: (session, farm, id) => void farm.owl.set(session.create(Owl, { id })),
  },
}

/** Number of weighings that the diary has. */
export const weighings = async (session: Session, id: number): Promise<number> =>
  (await session.find(Diary, id))?.weighings.items.length ?? 0
