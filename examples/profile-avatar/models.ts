import 'reflect-metadata'
import { Bin, Key, OneToOne, Record, ref } from 'skein'

/** Small, read all the time, must never be wrong: a strongly consistent namespace. */
@Record({ set: 'profile', namespace: 'users' })
export class Profile {
  @Key() id!: string
  @Bin() name!: string
  @Bin() email!: string
  @OneToOne(() => Avatar, 'profile', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' })
  avatar = ref<Avatar>()
}

/** Large, read now and then, easily made again: a namespace of its own. It has the key of its profile. */
@Record({ set: 'avatar', namespace: 'media' })
export class Avatar {
  @Key() id!: string
  @Bin() type!: string
  @Bin() image!: Uint8Array
  @OneToOne(() => Profile, 'avatar', { strategy: 'sharedKey' }) profile = ref<Profile>()
}
