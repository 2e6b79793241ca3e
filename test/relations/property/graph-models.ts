import {
  type EntityClass,
  Bin,
  Copy,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
} from 'skein'
import { Apart, CountInShards, InShards, PartsInShards } from './in-companions.js'

@Embeddable()
export class Role {
  @Bin() name!: string
}

@Embeddable()
export class Note {
  @Key() id!: number
  @ManyToOne(() => Task) about = ref<Task>()
}

/** A class with every kind of relation, to itself and to another class. */
@Record({ set: 'person' })
export class Person {
  @Key() id!: number
  @Bin() title?: string
  @InShards('tasksIn') @OneToMany(() => Task, 'assignee') tasks = collection<Task>()
  @OneToMany(() => Task, 'doer', { strategy: 'secondaryIndex', onDelete: 'detach' }) chores = collection<Task>()
  @Apart('bookmarksIn') @OneToMany(() => Task) bookmarks = collection<Task>()
  @PartsInShards('notesIn')
  @OneToMany(() => Note, {
    strategy: 'consolidate',
    eager: true,
    inverseIndex: { about: { onTargetDelete: 'delete' } },
  })
  notes = collection<Note>()
  @CountInShards('always') @CountOf('notes') noteCount = 0
  @Apart('followsIn') @ManyToMany(() => Person, 'followers', { owner: true }) follows = collection<Person>()
  @InShards('followersIn') @ManyToMany(() => Person, 'follows') followers = collection<Person>()
  @CountInShards('always', 'demand') @CountOf('followers', { name: 'nfollowers' }) followerCount = 0
  @InShards('friendsIn') @ManyToMany(() => Person, 'friends') friends = collection<Person>()
  @ManyToMany(() => Task, 'likedBy', { owner: true }) likes = collection<Task>()
  @InShards('watchedIn') @ManyToMany(() => Task, 'watchers', { owner: true, attributes: () => Role }) watched =
    collection<Task, Role>()
  @ManyToMany(() => Person, { through: () => Knowing }) knows = collection<Person, Knowing>()
  @InShards('knownByIn') @ManyToMany(() => Person, { through: () => Knowing }) knownBy = collection<Person, Knowing>()
  @Apart('ratedIn') @ManyToMany(() => Task, { through: () => Rating }) rated = collection<Task, Rating>()
  @OneToOne(() => Task, 'lead', { owner: true }) leads = ref<Task>()
  @OneToOne(() => Person, 'mentor', { owner: true }) student = ref<Person>()
  @OneToOne(() => Person, 'student') mentor = ref<Person>()
  @OneToOne(() => Badge, 'person', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' }) badge = ref<Badge>()
}

@Record({ set: 'task' })
export class Task {
  @Key() id!: number
  @Bin() title?: string
  @Copy((task: Task) => task.assignee, 'title') assigneeTitle?: string
  @Copy((task: Task) => task.doer, 'title') doerTitle?: string
  @Copy((task: Task) => task.parent, 'title') parentTitle?: string
  @ManyToOne(() => Person, 'tasks') assignee = ref<Person>()
  @ManyToOne(() => Person, 'chores') doer = ref<Person>()
  @ManyToOne(() => Task, 'subtasks') parent = ref<Task>()
  @Apart('subtasksIn') @OneToMany(() => Task, 'parent') subtasks = collection<Task>()
  @InShards('stepsIn') @OneToMany(() => Step, 'task', { onDelete: 'cascade', orphans: 'delete' }) steps =
    collection<Step>()
  @OneToMany(() => Log, 'task', { strategy: 'secondaryIndex', onDelete: 'cascade', orphans: 'delete' })
  logs = collection<Log>()
  @InShards('likedByIn') @ManyToMany(() => Person, 'likes') likedBy = collection<Person>()
  @ManyToMany(() => Person, 'watched', { attributes: () => Role }) watchers = collection<Person, Role>()
  @ManyToMany(() => Person, { through: () => Rating, strategy: 'secondaryIndex' }) raters = collection<Person, Rating>()
  @OneToOne(() => Person, 'leads') lead = ref<Person>()
}

/** Links that are records: one class listed at both ends, one found by an index at one of them. */
@Record({ set: 'knowing', key: '{from}:{to}' })
export class Knowing {
  @ManyToOne(() => Person, 'knows') from = ref<Person>()
  @ManyToOne(() => Person, 'knownBy') to = ref<Person>()
}

@Record({ set: 'rating', key: '{person}:{task}' })
export class Rating {
  @ManyToOne(() => Person, 'rated') person = ref<Person>()
  @ManyToOne(() => Task, 'raters') task = ref<Task>()
  @Bin() name!: string
}

@Record({ set: 'step' })
export class Step {
  @Key() id!: number
  @Copy((step: Step) => step.task, 'title') taskTitle?: string
  @ManyToOne(() => Task, 'steps') task = ref<Task>()
}

@Record({ set: 'log' })
export class Log {
  @Key() id!: number
  @Copy((log: Log) => log.task, 'title') taskTitle?: string
  @ManyToOne(() => Task, 'logs') task = ref<Task>()
}

/** A class that has the key of its person. */
@Record({ set: 'badge' })
export class Badge {
  @Key() id!: number
  @OneToOne(() => Person, 'badge', { strategy: 'sharedKey' }) person = ref<Person>()
}

export const CLASSES = { Person, Task, Step, Log, Badge }
export const LINKS = { Knowing, Rating }
export const ENTITIES: readonly EntityClass[] = [...Object.values(CLASSES), ...Object.values(LINKS)]
export type Kind = keyof typeof CLASSES
export const classOf = (kind: Kind): EntityClass => CLASSES[kind]

export const IDS = [1, 2, 3]

export const make = (kind: Kind, id: number): object => Object.assign(new CLASSES[kind](), { id })

export const note = (id: number, about: Task | number | null): Note => {
  const made = Object.assign(new Note(), { id })
  made.about.set(about)
  return made
}

/** A relation from one class to another, as both declare it. */
export interface Between {
  readonly from: Kind
  readonly name: string
  readonly to: Kind
  /** The other side's name; without, only one side is stored. */
  readonly back?: string
  /** Number of entities that may be linked to one, at each end. */
  readonly shape: 'oneToMany' | 'oneToOne' | 'manyToMany'
  readonly hasRole?: true
  /** The class of its links, which are records. */
  readonly records?: keyof typeof LINKS
  /** Members that are taken out are deleted, and so are all members when their owner is deleted. */
  readonly owns?: true
}

export const RELATIONS: readonly Between[] = [
  { from: 'Person', name: 'tasks', to: 'Task', back: 'assignee', shape: 'oneToMany' },
  { from: 'Person', name: 'chores', to: 'Task', back: 'doer', shape: 'oneToMany' },
  { from: 'Task', name: 'subtasks', to: 'Task', back: 'parent', shape: 'oneToMany' },
  { from: 'Task', name: 'steps', to: 'Step', back: 'task', shape: 'oneToMany', owns: true },
  { from: 'Task', name: 'logs', to: 'Log', back: 'task', shape: 'oneToMany', owns: true },
  { from: 'Person', name: 'leads', to: 'Task', back: 'lead', shape: 'oneToOne' },
  { from: 'Person', name: 'student', to: 'Person', back: 'mentor', shape: 'oneToOne' },
  { from: 'Person', name: 'follows', to: 'Person', back: 'followers', shape: 'manyToMany' },
  { from: 'Person', name: 'friends', to: 'Person', back: 'friends', shape: 'manyToMany' },
  { from: 'Person', name: 'likes', to: 'Task', back: 'likedBy', shape: 'manyToMany' },
  { from: 'Person', name: 'watched', to: 'Task', back: 'watchers', shape: 'manyToMany', hasRole: true },
  { from: 'Person', name: 'knows', to: 'Person', back: 'knownBy', shape: 'manyToMany', records: 'Knowing' },
  { from: 'Person', name: 'rated', to: 'Task', back: 'raters', shape: 'manyToMany', records: 'Rating', hasRole: true },
  { from: 'Person', name: 'bookmarks', to: 'Task', shape: 'manyToMany' },
]

/** Copies of titles, by the reference that they go with. */
export const COPIES: readonly {
  readonly of: Kind
  readonly ref: string
  readonly copy: string
  readonly from: Kind
}[] = [
  { of: 'Task', ref: 'assignee', copy: 'assigneeTitle', from: 'Person' },
  { of: 'Task', ref: 'doer', copy: 'doerTitle', from: 'Person' },
  { of: 'Task', ref: 'parent', copy: 'parentTitle', from: 'Task' },
  { of: 'Step', ref: 'task', copy: 'taskTitle', from: 'Task' },
  { of: 'Log', ref: 'task', copy: 'taskTitle', from: 'Task' },
]

/** The relations of a class that are collections, and those that are references. */
export const collectionsOf = (kind: Kind): string[] =>
  RELATIONS.flatMap(({ from, name, to, back, shape }) => [
    ...(from === kind && shape !== 'oneToOne' ? [name] : []),
    ...(to === kind && back !== undefined && back !== name && shape === 'manyToMany' ? [back] : []),
  ])
export const refsOf = (kind: Kind): string[] =>
  RELATIONS.flatMap(({ from, name, to, back, shape }) => [
    ...(from === kind && shape === 'oneToOne' ? [name] : []),
    ...(to === kind && back !== undefined && shape !== 'manyToMany' ? [back] : []),
  ])
