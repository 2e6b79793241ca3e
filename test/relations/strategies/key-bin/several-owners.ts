import { Bin, Companion, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

/** Owners of two classes, whose keys are of different types, and what belongs to one of them. */
@Record({ set: 'article' })
export class Article {
  @Key() id!: number
  @Bin() title?: string
  @OneToMany(() => Remark, 'subject', { strategy: 'keyList' }) remarks = collection<Remark>()
  @OneToMany(() => Vote, 'subject', { strategy: 'secondaryIndex', onDelete: 'cascade' }) votes = collection<Vote>()
  @OneToMany(() => Label, 'on', { onDelete: 'cascade', orphans: 'delete' }) labels = collection<Label>()
  @OneToMany(() => Lock, 'on', { onDelete: 'restrict' }) locks = collection<Lock>()
}

@Record({ set: 'picture' })
export class Picture {
  @Key() id!: string
  @Bin() file?: string
  @Companion() @OneToMany(() => Remark, 'subject', { strategy: 'keyList' }) remarks = collection<Remark>()
  @OneToMany(() => Vote, 'subject', { strategy: 'secondaryIndex', onDelete: 'cascade' }) votes = collection<Vote>()
  @OneToMany(() => Label, 'on', { onDelete: 'cascade', orphans: 'delete' }) labels = collection<Label>()
  @OneToMany(() => Lock, 'on', { onDelete: 'restrict' }) locks = collection<Lock>()
}

@Record({ set: 'remark' })
export class Remark {
  @Key() id!: number
  @ManyToOne(() => [Article, Picture], 'remarks') subject = ref<Article | Picture>()
}

@Record({ set: 'vote' })
export class Vote {
  @Key() id!: number
  @ManyToOne(() => [Article, Picture], 'votes') subject = ref<Article | Picture>()
}

@Record({ set: 'label' })
export class Label {
  @Key() id!: number
  @ManyToOne(() => [Article, Picture], 'labels') on = ref<Article | Picture>()
}

@Record({ set: 'lock' })
export class Lock {
  @Key() id!: number
  @ManyToOne(() => [Article, Picture], 'locks') on = ref<Article | Picture>()
}

export const OWNED = [Article, Picture, Remark, Vote, Label, Lock]
