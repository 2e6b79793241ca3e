import { Bin, Key, ManyToOne, OneToMany, Record, Version, collection, ref } from 'skein'

@Record({ set: 'company' })
export class Company {
  @Key() id!: string
  @OneToMany(() => Department, 'company', { strategy: 'secondaryIndex', onDelete: 'cascade' })
  departments = collection<Department>()
}

@Record({ set: 'department' })
export class Department {
  @Key() id!: number
  @Bin() name!: string
  @ManyToOne(() => Company, 'departments') company = ref<Company>()
  @OneToMany(() => Employee, 'department', { strategy: 'secondaryIndex', onDelete: 'cascade' })
  employees = collection<Employee>()
}

@Record({ set: 'employee' })
export class Employee {
  @Key() id!: string
  @Bin() name!: string
  @Version() version?: number
  @ManyToOne(() => Department, 'employees') department = ref<Department>()
}

/** A team detaches its members when it is deleted; those that are taken out of it are deleted. */
@Record({ set: 'team' })
export class Team {
  @Key() id!: number
  @OneToMany(() => Player, 'team', { strategy: 'secondaryIndex', onDelete: 'detach', orphans: 'delete' })
  players = collection<Player>()
  @OneToMany(() => Trophy, 'team', { strategy: 'secondaryIndex', onDelete: 'restrict' })
  trophies = collection<Trophy>()
}

@Record({ set: 'player' })
export class Player {
  @Key() id!: string
  @ManyToOne(() => Team, 'players') team = ref<Team>()
}

@Record({ set: 'trophy' })
export class Trophy {
  @Key() id!: string
  @ManyToOne(() => Team, 'trophies') team = ref<Team>()
}

export const COMPANY = [Company, Department, Employee, Team, Player, Trophy]

export const department = (id: number): Department => Object.assign(new Department(), { id, name: `department ${id}` })
export const employee = (id: string): Employee => Object.assign(new Employee(), { id, name: `employee ${id}` })
export const team = (id: number): Team => Object.assign(new Team(), { id })
export const player = (id: string): Player => Object.assign(new Player(), { id })
export const trophy = (id: string): Trophy => Object.assign(new Trophy(), { id })
