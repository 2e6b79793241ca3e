import { Bin, Index, Key, ManyToOne, Record, ref, type Ref } from 'skein'
import { Agent } from './agent.js'

@Record({ set: 'listing' })
export class Listing {
  @Key({ generate: 'uuid' }) id!: string
  @Index() @Bin() city!: string
  @Bin() listedAt!: Date
  @Bin({ type: 'double' }) price = 0
  @ManyToOne(() => Agent, 'listings') agent: Ref<Agent> = ref()
}
