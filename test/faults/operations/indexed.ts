import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'department' })
class Department {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Employee, 'department', { strategy: 'secondaryIndex', onDelete: 'cascade' })
  employees = collection<Employee>()
}

@Record({ set: 'employee' })
class Employee {
  @Key() id!: string
  @Bin() name!: string
  @ManyToOne(() => Department, 'employees') department = ref<Department>()
}

@Record({ set: 'squad' })
class Squad {
  @Key() id!: number
  @OneToMany(() => Player, 'squad', { strategy: 'secondaryIndex', onDelete: 'detach', orphans: 'delete' })
  players = collection<Player>()
}

@Record({ set: 'player' })
class Player {
  @Key() id!: string
  @Bin() name!: string
  @ManyToOne(() => Squad, 'players') squad = ref<Squad>()
}

function departments(session: Session, world: World): void {
  const [a, b] = [0, 1].map((i) => session.persist(make(Department, world.number(i), { name: 'department' })))
  a.employees.add(employee(world, 0), employee(world, 1))
  b.employees.add(employee(world, 2))
}

function squads(session: Session, world: World): void {
  const squad = session.persist(make(Squad, world.number(0)))
  squad.players.add(...[0, 1].map((i) => make(Player, world.name(i), { name: 'player' })))
}

const employee = (world: World, i: number): Employee => make(Employee, world.name(i), { name: 'employee' })

export const INDEXED: Family = {
  name: 'children found by an index',
  classes: [Department, Employee, Squad, Player],
  isIndexed: true,
  references: [
    { set: 'employee', bin: 'department', to: 'department' },
    { set: 'player', bin: 'squad', to: 'squad' },
  ],
  operations: [
    {
      title: 'save a new parent with new children',
      prepare: () => undefined,
      async change(session, world) {
        const { employees } = await obtain(session, Department, world.number(0), { name: 'department' })
        for (const i of [0, 1]) employees.add(await obtain(session, Employee, world.name(i), { name: 'employee' }))
      },
    },
    {
      title: 'add a new child',
      prepare: departments,
      async change(session, world) {
        const { employees } = await session.load(Department, world.number(0))
        employees.add(await obtain(session, Employee, world.name(3), { name: 'employee' }))
      },
    },
    {
      title: 'move a child',
      prepare: departments,
      async change(session, world) {
        ;(await session.load(Employee, world.name(0))).department.set(world.number(1))
      },
    },
    {
      title: 'move a child by its key',
      prepare: departments,
      async change(session, world) {
        ;(await session.load(Department, world.number(1))).employees.add(world.name(0))
      },
    },
    {
      title: 'move a child to a new parent',
      prepare: departments,
      async change(session, world) {
        const parent = await obtain(session, Department, world.number(2), { name: 'department' })
        ;(await session.load(Employee, world.name(0))).department.set(parent)
      },
    },
    {
      title: 'take a child out by its key',
      prepare: departments,
      async change(session, world) {
        ;(await session.load(Department, world.number(0))).employees.remove(world.name(0))
      },
    },
    {
      title: 'take a child out that is deleted then',
      prepare: squads,
      async change(session, world) {
        ;(await session.load(Squad, world.number(0))).players.remove(world.name(0))
      },
    },
    deletion('delete a child', departments, Employee, (world) => world.name(0)),
    deletion('delete a parent with its children', departments, Department, (world) => world.number(0)),
    deletion('delete a parent and detach its children', squads, Squad, (world) => world.number(0)),
  ],
}
