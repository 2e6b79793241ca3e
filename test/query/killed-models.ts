import {
  BeforeSave,
  Bin,
  Counter,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  collection,
  inc,
  ref,
  type BulkOptions,
  type BulkResult,
  type Database,
} from 'skein'

/** Records of each set: three steps of a bulk operation. */
export const RECORDS = 250

/** Its update goes through sessions because of the version. */
@Record({ set: 'qk_versioned' })
export class Versioned {
  @Key() id!: number
  @Bin({ type: 'int' }) price = 0
  @Bin() raised?: string
  @Version() readonly version?: number
}

/** Its update goes through sessions because of the hook. */
@Record({ set: 'qk_hooked' })
export class Hooked {
  @Key() id!: number
  @Counter() price = 0
  @Bin() raised?: string
  @Bin() seal?: string

  @BeforeSave() sign(): void {
    this.seal = `sealed ${this.id}`
  }
}

@Record({ set: 'qk_parent' })
export class Parent {
  @Key() id!: number
  @Index() @Bin() state!: string
  @OneToMany(() => Child, 'parent', { strategy: 'keyList', onDelete: 'cascade' }) children = collection<Child>()
}

@Record({ set: 'qk_child' })
export class Child {
  @Key() id!: string
  @ManyToOne(() => Parent, 'children') parent = ref<Parent>()
}

export const KILLED = [Versioned, Hooked, Parent, Child]

/** Bulk operations that a process is killed in, by name. */
export const BULKS: { readonly [name: string]: (db: Database, options: BulkOptions) => Promise<BulkResult> } = {
  'increments by a version': (db, options) => db.scan(Versioned).update({ price: inc(1) }, options),
  'increments of a counter': (db, options) => db.scan(Hooked).update({ price: inc(1) }, options),
  'marked increments by a version': (db, options) =>
    db
      .scan(Versioned)
      .where({ raised: { ne: 'today' } })
      .update({ price: inc(1), raised: 'today' }, options),
  'marked increments of a counter': (db, options) =>
    db
      .scan(Hooked)
      .where({ raised: { ne: 'today' } })
      .update({ price: inc(1), raised: 'today' }, options),
  deletes: (db, options) => db.query(Parent).where({ state: 'old' }).delete(options),
}
