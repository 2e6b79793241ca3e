import { Bin, Index, Key, ManyToOne, Record, ref, type Ref } from 'skein'
import { Agent } from './agent.js'

@Record({ set: 'listing' })
export class Listing {
  @Key({ type: 'string', generate: 'uuid' }) id!: string
  @Index() @Bin({ type: 'string' }) city!: string
  @Bin({ type: 'date' }) listedAt!: Date
  @Bin({ type: 'double' }) price = 0
  @ManyToOne(() => Agent, 'listings') agent: Ref<Agent> = ref()
}
