import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Embeddable()
export class Since {
  @Bin() year?: number
}

@Record({ set: 'order_parent' })
export class Parent {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Child, 'parent') kids = collection<Child>()
  @OneToMany(() => Child, 'indexed', { strategy: 'secondaryIndex' }) found = collection<Child>()
  @OneToMany(() => Child) marks = collection<Child>()
  @ManyToMany(() => Child, 'fans', { owner: true }) likes = collection<Child>()
  @ManyToMany(() => Child, 'friends', { owner: true, attributes: () => Since }) links = collection<Child, Since>()
}

@Record({ set: 'order_child' })
export class Child {
  @Key() id!: number
  @ManyToOne(() => Parent, 'kids') parent = ref<Parent>()
  @ManyToOne(() => Parent, 'found') indexed = ref<Parent>()
  @ManyToMany(() => Parent, 'likes') fans = collection<Parent>()
  @ManyToMany(() => Parent, 'links', { attributes: () => Since }) friends = collection<Parent, Since>()
}

export const NAMES = ['kids', 'found', 'marks', 'likes', 'links'] as const
export type Name = (typeof NAMES)[number]

export const since = (year: number): Since => Object.assign(new Since(), { year })
