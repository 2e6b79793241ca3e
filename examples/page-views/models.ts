import 'reflect-metadata'
import { Bin, Counter, Key, Record, Sharded } from 'skein'

/** A page that everybody looks at: its views are counted in 16 companion records. */
@Record({ set: 'page' })
export class Page {
  @Key() path!: string
  @Bin() title!: string
  @Sharded({ by: 'hash', shards: 16 })
  @Counter()
  views = 0
}
