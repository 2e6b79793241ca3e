import { Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id!: string
  city = ''
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

@Embeddable()
class Comment {
  @Key() id!: number
  text = ''
  @ManyToOne(() => Agent) author = ref<Agent>()
}

@Record({ set: 'post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

declare const session: Session

export const loads = [
  session.load(Agent, 1, { with: ['listings', 'listings.agent'] }),
  // expect: Type '"listing"' is not assignable to type … Did you mean '"listings"'?
  session.load(Agent, 1, { with: ['listing'] }),
  // expect: Type '"listings.city"' is not assignable to type
  session.load(Agent, 1, { with: ['listings.city'] }),
  session.load(Post, 1, { with: ['comments.author', 'comments.author.listings', 'comments.author.listings.agent'] }),
  // expect: Type '"comments.writer"' is not assignable to type
  session.load(Post, 1, { with: ['comments.writer'] }),
  // expect: Type '"comments.author.city"' is not assignable to type
  session.load(Post, 1, { with: ['comments.author.city'] }),
]

export const collections = [
  session.at(Agent, 1).collection('listings'),
  // expect: Argument of type '"agent"' is not assignable to parameter of type 'never'
  session.at(Listing, 'a').collection('agent'),
]
