import type { Database, Ref } from 'skein'
import { COMPANY, Department, Employee, Player, Team, department, employee, player, team } from './departments.js'
import { Agent, Listing, User, agent, listing } from '../models.js'

type Class<T> = new () => T

/** A class with many children, and how they are related. */
export interface Parent {
  readonly entities: readonly Class<object>[]
  readonly parent: Class<object>
  readonly child: Class<object>
  readonly newParent: (id: number) => object
  readonly newChild: (id: string) => object
  readonly refOf: (child: object) => Ref<object>
  /** The fate of children when the parent is deleted. */
  readonly children: 'go' | 'stay'
}

function parent<P extends object, C extends object>(
  entities: readonly Class<object>[],
  [parentClass, childClass]: [Class<P>, Class<C>],
  newParent: (id: number) => P,
  newChild: (id: string) => C,
  refOf: (child: C) => object,
  children: Parent['children'] = 'go',
): Parent {
  return {
    entities,
    parent: parentClass,
    child: childClass,
    newParent,
    newChild,
    refOf: (child) => refOf(child as C) as Ref<object>,
    children,
  }
}

export const PARENTS: Readonly<Record<string, Parent>> = {
  'by index': parent(COMPANY, [Department, Employee], department, employee, (one) => one.department),
  'key list': parent(
    [Agent, Listing, User],
    [Agent, Listing],
    agent,
    (id) => listing(id),
    (one) => one.agent,
  ),
  'detached by index': parent(COMPANY, [Team, Player], team, player, (one) => one.team, 'stay'),
}

/** Stores a parent and its children, `each` of them changed as told. */
export async function storeFamily(
  db: Database,
  { newParent, newChild, refOf }: Parent,
  id: number,
  names: readonly string[],
  each: (child: object) => void = () => undefined,
): Promise<void> {
  await db.session().save(newParent(id))
  for (let i = 0; i < names.length; i += 500) {
    const session = db.session()
    for (const name of names.slice(i, i + 500)) {
      const child = newChild(name)
      each(child)
      refOf(child).set(id)
      session.persist(child)
    }
    await session.flush({ transactions: 'off' })
  }
}
