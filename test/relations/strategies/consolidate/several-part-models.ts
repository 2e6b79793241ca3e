import { Bin, Embeddable, Embedded, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref } from 'skein'
import { Author, Form, Note, Page, Photo, Post } from '../key-bin/several-models.js'

/** A mention of one of several classes, and what was answered to it, which mentions others. */
@Embeddable()
export class Mention {
  @Key() id!: string
  @Bin() text?: string
  @ManyToOne(() => [Post, Photo, Page]) subject = ref<Post | Photo | Page>()
  @OneToMany(() => Answer, { strategy: 'consolidate' }) answers = collection<Answer>()
}

@Embeddable()
export class Answer {
  @Key() id!: string
  @ManyToOne(() => [Post, Photo]) about = ref<Post | Photo>()
}

/** A reference inside an embedded part. */
@Embeddable()
export class Pin {
  @Bin() text?: string
  @ManyToOne(() => [Post, Photo, Page]) subject = ref<Post | Photo | Page>()
}

@Record({ set: 'mention-wall' })
export class Wall {
  @Key() id!: number
  @OneToMany(() => Mention, { strategy: 'consolidate' }) mentions = collection<Mention>()
  @Embedded(() => Pin) top?: Pin
  @Embedded(() => Pin, { as: 'array' }) pins?: Pin[]
}

const INVERSE = {
  subject: { name: 'bySubject', onTargetDelete: 'delete' },
  'answers.about': { name: 'byAbout', onTargetDelete: 'delete' },
} as const

/** Knows what its mentions lead to. */
@Record({ set: 'mention-board' })
export class Board {
  @Key() id!: number
  @OneToMany(() => Mention, { strategy: 'consolidate', inverseIndex: INVERSE }) mentions = collection<Mention>()
}

@Record({ set: 'mention-hall' })
export class Hall {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Mention, { strategy: 'consolidate', inverseIndex: INVERSE })
  mentions = collection<Mention>()
}

export const MENTIONED = [Author, Post, Photo, Page, Note, Form, Wall, Board, Hall]

export function mention(id: string, subject: Post | Photo | Page | string | null, ...answers: Answer[]): Mention {
  const made = Object.assign(new Mention(), { id })
  made.subject.set(subject)
  made.answers.add(...answers)
  return made
}

export function answer(id: string, about: Post | Photo | string): Answer {
  const made = Object.assign(new Answer(), { id })
  made.about.set(about)
  return made
}

export function pin(subject: Post | Photo | Page | string): Pin {
  const made = new Pin()
  made.subject.set(subject)
  return made
}
