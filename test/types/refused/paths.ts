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
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
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
  session.load(Post, 1, { with: ['comments.replies', 'comments.replies.author', 'comments.replies.replies.author'] }),
  // expect: Type '"comments.replies.writer"' is not assignable to type
  session.load(Post, 1, { with: ['comments.replies.writer'] }),
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

export function handles(): void {
  const reply = session.at(Post, 1).child('comments', 7).child('replies', 8).child('replies', 9)
  reply.put('text', 'new')
  // expect: Argument of type '"author"' is not assignable to parameter of type '"replies"'
  session.at(Post, 1).child('comments', 7).child('author', 8)
  // expect: Argument of type 'string' is not assignable to parameter of type
  session.at(Post, 1).child('comments', 7).child('replies', 'x')
}
