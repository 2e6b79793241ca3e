import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Record({ set: 'department' })
export class Department {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Employee, 'department', { strategy: 'secondaryIndex', onDelete: 'cascade' })
  employees = collection<Employee>()
}

@Record({ set: 'employee' })
export class Employee {
  @Key() id!: number
  @Bin() name!: string
  @ManyToOne(() => Department, 'employees') department = ref<Department>()
}
