import type { Session } from 'skein'
import { IDS, Person, Task, collectionsOf, make, type Kind } from '../property/graph-models.js'

export interface World {
  readonly persons: readonly Person[]
  readonly tasks: readonly Task[]
}

export interface Change {
  readonly change: (world: World) => void
  /** Entities that take the change back when they are refreshed; all others keep it. */
  readonly ends: (world: World) => readonly object[]
}

/** Person 1 has task 1 and leads it, likes task 2 and watches it, and follows person 2. */
export const CHANGES: { readonly [title: string]: Change } = {
  'a child is moved by its own reference': {
    change: ({ persons: [, two], tasks: [task] }) => task.assignee.set(two),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child is moved by its new parent': {
    change: ({ persons: [, two], tasks: [task] }) => two.tasks.add(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child is taken out': {
    change: ({ persons: [one], tasks: [task] }) => one.tasks.remove(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a child found by an index is moved': {
    change: ({ persons: [, two], tasks: [task] }) => two.chores.add(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child found by an index is taken out': {
    change: ({ persons: [one], tasks: [task] }) => one.chores.remove(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a partner is exchanged': {
    change: ({ persons: [one], tasks: [, other] }) => one.leads.set(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'a partner is taken': {
    change: ({ persons: [, two], tasks: [task] }) => two.leads.set(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a partner is detached': {
    change: ({ persons: [one] }) => one.leads.set(null),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link is added': {
    change: ({ persons: [one], tasks: [task] }) => one.likes.add(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link is removed': {
    change: ({ persons: [one], tasks: [, other] }) => one.likes.remove(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'a link with attributes is added': {
    change: ({ persons: [one], tasks: [task] }) => one.watched.link(task, { name: 'r' }),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link with attributes is removed': {
    change: ({ persons: [one], tasks: [, other] }) => one.watched.remove(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'one of the same class is linked': {
    change: ({ persons: [one, , three] }) => one.follows.add(three),
    ends: ({ persons: [one, , three] }) => [one, three],
  },
  'one of the same class is detached': {
    change: ({ persons: [one, two] }) => one.follows.remove(two),
    ends: ({ persons: [one, two] }) => [one, two],
  },
}

export const load = async (session: Session, members: boolean): Promise<World> => ({
  persons: await session.loadMany(Person, IDS, {
    with: (members ? collectionsOf('Person') : []) as never[],
  }),
  tasks: await session.loadMany(Task, IDS, { with: (members ? collectionsOf('Task') : []) as never[] }),
})
export const allOf = ({ persons, tasks }: World): (readonly [Kind, object])[] => [
  ...persons.map((person) => ['Person', person] as const),
  ...tasks.map((task) => ['Task', task] as const),
]

/** The stored state that the changes above start from. */
export function store(session: Session): void {
  const [one, two] = IDS.map((id) => session.persist(make('Person', id)) as Person)
  const [task, other] = IDS.map((id) => session.persist(make('Task', id)) as Task)
  one.tasks.add(task)
  one.chores.add(task)
  one.leads.set(task)
  one.likes.add(other)
  one.watched.link(other, { name: 'r' })
  one.follows.add(two)
}
