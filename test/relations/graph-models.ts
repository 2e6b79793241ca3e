import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'

@Embeddable()
export class Role {
  @Bin() name!: string
}

/** One of every kind of relation, from and to itself and another class. */
@Record({ set: 'person' })
export class Person {
  @Key() id!: number
  @OneToMany(() => Task, 'assignee') tasks = collection<Task>()
  @ManyToMany(() => Person, 'followers', { owner: true }) follows = collection<Person>()
  @ManyToMany(() => Person, 'follows') followers = collection<Person>()
  @ManyToMany(() => Person, 'friends') friends = collection<Person>()
  @ManyToMany(() => Task, 'watchers', { owner: true, attributes: () => Role }) watched = collection<Task, Role>()
  @OneToOne(() => Task, 'lead', { owner: true }) leads = ref<Task>()
}

@Record({ set: 'task' })
export class Task {
  @Key() id!: number
  @ManyToOne(() => Person, 'tasks') assignee = ref<Person>()
  @ManyToMany(() => Person, 'watched', { attributes: () => Role }) watchers = collection<Person, Role>()
  @OneToOne(() => Person, 'leads') lead = ref<Person>()
}

export const person = (id: number): Person => Object.assign(new Person(), { id })
export const task = (id: number): Task => Object.assign(new Task(), { id })
