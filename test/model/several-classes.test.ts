import { expect } from 'chai'
import { compileModel } from '#src/model/index.js'
import { Bin, Copy, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'
import { expectProblem, problemsOf } from './problems-of.js'

@Record({ set: 'post' })
class Post {
  @Key() id!: number
  @Bin() title!: string
}

@Record({ set: 'photo' })
class Photo {
  @Key() id!: number
  @Bin() title!: string
}

@Record({ set: 'page', discriminator: 'kind' })
abstract class Page {
  @Key() id!: number
}
@Record({ discriminatorValue: 'note' })
class Note extends Page {}
@Record({ discriminatorValue: 'form' })
class Form extends Page {}

@Record({ set: 'like' })
class Found {
  @Key() id!: number
  @OneToMany((() => [Post, Photo]) as never, 'like' as never, { strategy: 'secondaryIndex' })
  found = collection<never>()
}

@Record({ set: 'like' })
class Listed {
  @Key() id!: number
  @OneToMany((() => [Post, Photo]) as never, 'like' as never) found = collection<never>()
}

@Record({ set: 'song' })
class Song {
  @Key() id!: number
  @OneToMany(() => Like, 'subject', { onDelete: 'cascade' }) likes = collection<Like>()
}

@Record({ set: 'film' })
class Film {
  @Key() id!: number
  @OneToMany(() => Like, 'subject', { strategy: 'secondaryIndex' }) likes = collection<Like>()
}

@Record({ set: 'like' })
class Like {
  @Key() id!: number
  @ManyToOne(() => [Song, Film], 'likes') subject = ref<Song | Film>()
}

@Record({ set: 'friend' })
class Friend {
  @Key() id!: number
  @ManyToMany((() => [Friend, Pet]) as never, 'friends' as never, { owner: true }) friends = collection<never>()
}

@Record({ set: 'pet' })
class Pet {
  @Key() id!: number
  @ManyToMany(() => Friend, 'friends') friends = collection<Friend>()
}

@Record({ set: 'tag' })
class Tag {
  @Key() id!: number
  @ManyToMany(() => [Book, Disc], 'tags', { owner: true, onDelete: 'cascade' }) on = collection<Book | Disc>()
}

@Record({ set: 'book' })
class Book {
  @Key() id!: number
  @ManyToMany(() => Tag, 'on') tags = collection<Tag>()
}

@Record({ set: 'disc' })
class Disc {
  @Key() id!: number
  @ManyToMany(() => Tag, 'on', { owner: true }) tags = collection<Tag>()
}

const BOTH = [Post, Photo]

describe('a relation to several classes', () => {
  it('is described with all of them', () => {
    @Record({ set: 'like' })
    class Like {
      @Key() id!: number
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
      @OneToMany(() => [Post, Photo]) seen = collection<Post | Photo>()
    }
    const text = compileModel([...BOTH, Like], { namespace: 'test' }).describe()
    expect(text).to.include('subject: manyToOne Post | Photo, keyBin, owner')
    expect(text).to.include('seen: oneToMany Post | Photo, keyList, owner')
  })

  it('names at least two classes, which have sets of different names', () => {
    @Record({ set: 'like' })
    class One {
      @Key() id!: number
      @ManyToOne(() => [Post]) subject = ref<Post>()
    }
    expectProblem([Post, One], 'SKEIN_1058', 'One.subject', /only one/, /\(\) => Post/)
    @Record({ set: 'like' })
    class Twice {
      @Key() id!: number
      @ManyToOne(() => [Note, Form]) subject = ref<Note | Form>()
    }
    expectProblem([Page, Note, Form, Twice], 'SKEIN_1058', 'Twice.subject', /both in a set 'page'/, /base class/)
    @Record({ set: 'post', namespace: 'other' })
    class OtherPost {
      @Key() id!: number
    }
    @Record({ set: 'like' })
    class Like {
      @Key() id!: number
      @ManyToOne(() => [Post, OtherPost]) subject = ref<Post | OtherPost>()
    }
    expectProblem([Post, OtherPost, Like], 'SKEIN_1058', 'Like.subject', /both in a set 'post'/, /different names/)
    @Record({ set: 'like' })
    class Unknown {
      @Key() id!: number
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
    }
    expectProblem([Post, Unknown], 'SKEIN_1040', 'Unknown.subject', /Photo is not among/, /Photo/)
  })

  it('is a @ManyToOne, a @ManyToMany, or a one-sided @OneToMany stored as keyList', () => {
    const several = (() => [Post, Photo]) as never
    @Record({ set: 'like' })
    class One {
      @Key() id!: number
      @OneToOne(several) one = ref<never>()
    }
    expectProblem([...BOTH, One], 'SKEIN_1058', 'One.one', /@OneToOne leads to one class/, /@ManyToOne/)
    expectProblem([Friend, Pet], 'SKEIN_1058', 'Friend.friends', /its own other side/, /another name/)
    const problems = problemsOf(...BOTH, Found).map(({ code, message }) => `${code} ${message}`)
    expect(problems).to.include('SKEIN_1058 A @OneToMany stored as secondaryIndex leads to one class only.')
    expect(problemsOf(...BOTH, Listed).map(({ message }) => message)).to.include(
      'A @OneToMany of several classes is one-sided.',
    )
  })

  it('has other sides that agree', () => {
    expect(problemsOf(Song, Film, Like).map(({ code, message }) => `${code} ${message}`)).to.have.members([
      "SKEIN_1058 Song.likes has onDelete: 'cascade', and Film.likes has 'detach'.",
      "SKEIN_1058 Song.likes has strategy: 'keyList', and Film.likes has 'secondaryIndex'.",
    ])
    expect(problemsOf(Tag, Book, Disc).map(({ code, message }) => `${code} ${message}`)).to.deep.equal([
      'SKEIN_1045 Both it and Tag.on say owner: true.',
    ])
    @Record({ set: 'like' })
    class Lost {
      @Key() id!: number
      @ManyToOne((() => [Post, Photo]) as never, 'likes' as never) subject = ref<never>()
    }
    const lost = problemsOf(...BOTH, Lost).map(({ code, message }) => `${code} ${message}`)
    expect(lost).to.have.members([
      'SKEIN_1042 Its other side Post.likes does not exist, or has no decorator.',
      'SKEIN_1042 Its other side Photo.likes does not exist, or has no decorator.',
    ])
  })

  it('is not a source of copies', () => {
    @Record({ set: 'like' })
    class Copied {
      @Key() id!: number
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
      @Copy((like: Copied) => like.subject, 'title') title?: string
    }
    expectProblem([...BOTH, Copied], 'SKEIN_1062', 'Copied.title', /several classes/, /one class/)
  })

  it('may be part of the key of a record, and an end of link records that lead to the same classes', () => {
    @Record({ set: 'note', key: '{by}:{subject}' })
    class Remark {
      @Bin() by!: string
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
    }
    const { key } = compileModel([...BOTH, Remark], { namespace: 'test' }).entity(Remark)
    expect(key).to.include({ template: '{by}:{subject}', parent: 'subject', kind: 'string' })

    @Record({ set: 'reader' })
    class Reader {
      @Key() id!: string
      @ManyToMany(() => [Photo, Post], { through: () => View }) seen = collection<Post | Photo, View>()
      @ManyToMany(() => Post, { through: () => Wide }) wide = collection<Post, Wide>()
    }
    @Record({ set: 'view', key: '{by}:{of}' })
    class View {
      @ManyToOne(() => Reader, 'seen') by = ref<Reader>()
      @ManyToOne(() => [Post, Photo]) of = ref<Post | Photo>()
    }
    @Record({ set: 'wide', key: '{by}:{of}' })
    class Wide {
      @ManyToOne(() => Reader, 'wide') by = ref<Reader>()
      @ManyToOne(() => [Post, Photo]) of = ref<Post | Photo>()
    }
    const problems = problemsOf(...BOTH, Reader, View, Wide).map(({ code, property, message }) => [
      code,
      property,
      message,
    ])
    expect(problems).to.deep.equal([
      ['SKEIN_1044', 'wide', 'It is a collection of Post, and Wide.of leads to Post | Photo.'],
    ])
  })

  it('may be in a part, with an index on text for all classes', () => {
    @Embeddable()
    class Mention {
      @Key() id!: number
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
    }
    @Record({ set: 'wall' })
    class Wall {
      @Key() id!: number
      @OneToMany(() => Mention, { strategy: 'consolidate', inverseIndex: { subject: { name: 'bySubject' } } })
      mentions = collection<Mention>()
    }
    const model = compileModel([...BOTH, Wall], { namespace: 'test' })
    const [relation] = model.embeddable(Mention).relations
    expect(relation).to.include({ target: 'Post | Photo', strategy: 'keyBin' })
    expect(model.entity('Post | Photo').several?.map(({ name }) => name)).to.deep.equal(['Post', 'Photo'])
    expect(model.entity(Wall).indexes.map(({ bin, on, type }) => [bin, on, type])).to.deep.equal([
      ['bySubject', 'mapKeys', 'string'],
    ])
  })

  it('is one of several in a part only as a @ManyToOne beside the key', () => {
    @Embeddable({ key: '{subject}' })
    class Keyed {
      @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
    }
    @Embeddable()
    class Single {
      @Key() id!: number
      @ManyToOne(() => [Post]) subject = ref<Post>()
      @OneToOne((() => [Post, Photo]) as never, { owner: true }) other = ref<never>()
    }
    @Embeddable()
    class Twice {
      @Key() id!: number
      @ManyToOne(() => [Page, Note]) subject = ref<Page | Note>()
    }
    @Embeddable()
    class Nested {
      @Key() id!: number
      @OneToMany((() => [Keyed, Single]) as never, { strategy: 'consolidate' }) inside = collection<never>()
    }
    @Record({ set: 'wall' })
    class Wall {
      @Key() id!: number
      @OneToMany(() => Keyed, { strategy: 'consolidate' }) keyed = collection<Keyed>()
      @OneToMany(() => Single, { strategy: 'consolidate' }) singles = collection<Single>()
      @OneToMany(() => Twice, { strategy: 'consolidate' }) twice = collection<Twice>()
      @OneToMany(() => Nested, { strategy: 'consolidate' }) nested = collection<Nested>()
    }
    const problems = problemsOf(...BOTH, Page, Note, Form, Wall).map(
      ({ code, className, property, message }) => `${code} ${className}.${property}: ${message}`,
    )
    expect(problems).to.include.members([
      'SKEIN_1058 Keyed.subject: A reference to several classes cannot be part of the id of a part.',
      'SKEIN_1058 Single.subject: Its list of classes has only one.',
      'SKEIN_1058 Single.other: A @OneToOne leads to one class only.',
      "SKEIN_1058 Twice.subject: Page and Note are both in a set 'page', which is stored to tell them apart.",
      'SKEIN_1049 Nested.inside: Children of a part are of one class.',
    ])
  })
})
