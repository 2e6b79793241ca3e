import { Bin, Key, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'
import { Agent, Listing, User } from '../relations/models.js'

@Record({ set: 'team' })
export class Team {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Member, 'team', { strategy: 'keyList', onDelete: 'detach' }) members = collection<Member>()
}

@Record({ set: 'member' })
export class Member {
  @Key() id!: string
  @Bin() name!: string
  @ManyToOne(() => Team, 'members') team = ref<Team>()
}

@Record({ set: 'profile' })
export class Profile {
  @Key() id!: number
  @Bin() name!: string
  @OneToOne(() => Desk, 'user', { owner: true }) desk = ref<Desk>()
}

@Record({ set: 'desk' })
export class Desk {
  @Key() id!: string
  @Bin() room?: string
  @OneToOne(() => Profile, 'desk') user = ref<Profile>()
}

export const CLASSES = [Agent, Listing, User, Team, Member, Profile, Desk]

/** Which bins of which set hold keys of which other set. */
export const REFERENCES: readonly { set: string; bin: string; to: string }[] = [
  { set: 'agent', bin: 'listings', to: 'listing' },
  { set: 'listing', bin: 'agent', to: 'agent' },
  { set: 'user', bin: 'follows', to: 'user' },
  { set: 'user', bin: 'followers', to: 'user' },
  { set: 'team', bin: 'members', to: 'member' },
  { set: 'member', bin: 'team', to: 'team' },
  { set: 'profile', bin: 'desk', to: 'desk' },
  { set: 'desk', bin: 'user', to: 'profile' },
]
