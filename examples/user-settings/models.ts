import 'reflect-metadata'
import { Bin, Key, Record } from 'skein'

/** A user with a thousand settings in one record: a page needs two of them. */
@Record({ set: 'settings_user' })
export class User {
  @Key() name!: string
  @Bin() email!: string
  @Bin({ type: { map: 'string' } }) settings = new Map<string, string>()
  @Bin({ type: { list: 'string' } }) signIns: string[] = []
}
