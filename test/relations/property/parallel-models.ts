import { Bin, Embeddable, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'
import type { Collection, Database, Session } from 'skein'

@Embeddable()
export class Since {
  @Bin() year?: number
}

/** Classes whose keys are templates, with every kind of relation between two records. */
@Record({ set: 'pp_parent', key: '{area}:{no}' })
export class Parent {
  @Bin() area!: string
  @Bin() no!: number
  @OneToMany(() => Child, 'parent') kids = collection<Child>()
  @OneToMany(() => Child, 'indexed', { strategy: 'secondaryIndex' }) found = collection<Child>()
  @ManyToMany(() => Child, 'fans', { owner: true }) likes = collection<Child>()
  @ManyToMany(() => Child, 'friends', { owner: true, attributes: () => Since }) links = collection<Child, Since>()
  @OneToOne(() => Child, 'partner', { owner: true }) pair = ref<Child>()
  @OneToMany(() => Item, 'owner', { onDelete: 'cascade' }) items = collection<Item>()
}

@Record({ set: 'pp_child', key: 'c/{code}' })
export class Child {
  @Bin() code!: string
  @Bin() name?: string
  @ManyToOne(() => Parent, 'kids') parent = ref<Parent>()
  @ManyToOne(() => Parent, 'found') indexed = ref<Parent>()
  @ManyToMany(() => Parent, 'likes') fans = collection<Parent>()
  @ManyToMany(() => Parent, 'links', { attributes: () => Since }) friends = collection<Parent, Since>()
  @OneToOne(() => Parent, 'pair') partner = ref<Parent>()
}

/** A class that has the key of its parent in its own. */
@Record({ set: 'pp_item', key: '{owner}/item/{line}' })
export class Item {
  @ManyToOne(() => Parent, 'items') owner = ref<Parent>()
  @Bin() line!: number
}

export const CLASSES = [Parent, Child, Item]
export const PARENTS = [1, 2]
export const CHILDREN = ['a', 'b', 'c']
export const MANY = ['kids', 'found', 'likes', 'links'] as const
export type Many = (typeof MANY)[number]

export const parentKey = (no: number): string => `north:${no}`
export const childKey = (code: string): string => `c/${code}`

export const since = (year: number): Since => Object.assign(new Since(), { year })

export async function storeAll(db: Database): Promise<void> {
  await db.withSession((session) => {
    for (const no of PARENTS) session.create(Parent, { area: 'north', no })
    for (const code of CHILDREN) session.create(Child, { code })
  })
}

export interface Loaded {
  readonly parents: readonly Parent[]
  readonly children: readonly Child[]
}

export async function loadAll(session: Session, isWhole: boolean): Promise<Loaded> {
  const paths = isWhole ? ([...MANY] as const) : []
  const parents = await session.loadMany(Parent, PARENTS.map(parentKey), { with: [...paths] })
  return { parents, children: await session.loadMany(Child, CHILDREN.map(childKey)) }
}

export const membersOf = (parent: Parent, relation: Many): Collection<Child, Since> => parent[relation]
