import { expect } from 'chai'
import { Bin, collection, compileModel, Embeddable, Embedded, Key, ManyToMany, OneToMany, Record } from 'skein'
import {
  Comment,
  Exam,
  Post,
  Reader,
  SignedHall,
  SignedPost,
} from '../relations/strategies/consolidate/nested-models.js'
import { expectProblem, problemsOf } from './problems-of.js'

@Embeddable()
class Leaf {
  @Key() id!: string
  @Bin() at!: number
}

describe('children of a part', () => {
  it('are shown in the description of the model', () => {
    const text = compileModel([Exam, Post, Reader], { namespace: 'test' }).describe()
    expect(text).to.contain('replies: oneToMany Comment, consolidate, owner, eager')
    expect(text).to.contain(
      "answers: oneToMany Answer, consolidate in 'a', owner, eager, ordered by points, order recent by at",
    )
  })

  for (const [option, value, message] of [
    ['eager', false, /eager: false is not for the children of a part/],
    ['cap', { keep: 3, by: 'last' }, /cap is not for the children/],
    ['sortKeyName', 'ids', /sortKeyName is not for the children/],
    ['expect', { p99: 3, bytes: 4 }, /expect is not for the children/],
    ['inverseIndex', {}, /an index belongs to the record/],
    ['sortKey', ['nothing'], /'nothing', which is not a property of Leaf/],
  ] as [string, unknown, RegExp][]) {
    it(`are refused with ${option}, which has nothing to act on`, () => {
      @Embeddable()
      class Branch {
        @Key() id!: string
        @OneToMany(() => Leaf, { strategy: 'consolidate', [option]: value })
        leaves = collection<Leaf>()
      }
      @Record({ set: 'tree' })
      class Tree {
        @Key() id!: number
        @OneToMany(() => Branch, { strategy: 'consolidate' }) branches = collection<Branch>()
      }
      expectProblem([Tree], 'SKEIN_1049', 'Branch.leaves', message, /./)
    })
  }

  describe('are indexed by a path', () => {
    const problem = (path: string, message: RegExp, fix: RegExp): void => {
      @Record({ set: 'tree' })
      class Tree {
        @Key() id!: number
        @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { [path]: {} } })
        comments = collection<Comment>()
      }
      expectProblem([Tree, Reader], 'SKEIN_1049', 'Tree.comments', message, fix)
    }

    it('which the description and the indexes of the model show', () => {
      const model = compileModel([SignedPost, SignedHall, Reader], { namespace: 'test' })
      expect(model.describe()).to.contain("inverse index of replies.author in 'byReplier'")
      const indexes = [...model.entities.values()].flatMap(({ indexes }) => indexes)
      expect(indexes.map(({ bin, on, type }) => `${bin} ${on} ${type}`)).to.deep.equal([
        'byAuthor mapKeys numeric',
        'byReplier mapKeys numeric',
        'byAuthor mapKeys numeric',
        'byReplier mapKeys numeric',
      ])
    })

    it('which names a collection and a reference that there are', () => {
      problem('repliez.author', /Comment has no consolidated children in 'repliez'/, /Did you mean 'replies'\?/)
      problem('replies.autor', /'replies.autor', which is not a reference of Comment/, /Did you mean 'author'\?/)
      problem('replies.text', /not a reference of Comment/, /Name a @ManyToOne of Comment/)
      problem('author.replies', /no consolidated children in 'author'/, /Name a collection of Comment/)
    })

    it('which names a collection that contains itself once', () => {
      problem('replies.replies.author', /covers every level of it already/, /Name 'replies' once/)
    })
  })

  it('are refused where their part is not a consolidated child', () => {
    @Record({ set: 'tree' })
    class Tree {
      @Key() id!: number
      @Embedded(() => Comment) one?: Comment
      @Embedded(() => Comment, { as: 'map' }) many = new Map<string, Comment>()
      @ManyToMany(() => Reader, { attributes: () => Comment }) readers = collection<Reader, Comment>()
    }
    const problems = problemsOf(Tree, Reader).filter(({ code }) => code === 'SKEIN_1053')
    expect(problems.map(({ property }) => property)).to.deep.equal(['one', 'many', 'readers'])
    expect(problems[0].message).to.contain('has children of its own (replies)')
  })

  it('are refused where their id leads to a record, or their part is a tuple', () => {
    @Embeddable({ key: '{tree}:{name}', parent: 'tree' })
    class Bird {
      @Bin() tree!: string
      @Bin() name!: string
    }
    @Embeddable({ layout: 'tuple' })
    class Nest {
      @Key() id!: string
      @OneToMany(() => Bird, { strategy: 'consolidate' }) birds = collection<Bird>()
    }
    @Record({ set: 'tree' })
    class Tree {
      @Key() id!: number
      @OneToMany(() => Nest, { strategy: 'consolidate' }) nests = collection<Nest>()
    }
    const messages = problemsOf(Tree).filter(({ property }) => property === 'birds')
    expect(messages.map(({ message }) => message)).to.deep.equal([
      'Nest is stored as a tuple, which has no place for children.',
      'The id of Bird leads to a record by its tree, and not to the part that would hold it.',
    ])
  })

  it('are refused where a field looks like one of them', () => {
    @Embeddable()
    class Branch {
      @Key() id!: string
      @Bin({ name: 'leaves/total' }) total?: number
      @OneToMany(() => Leaf, { strategy: 'consolidate' }) leaves = collection<Leaf>()
    }
    @Record({ set: 'tree' })
    class Tree {
      @Key() id!: number
      @OneToMany(() => Branch, { strategy: 'consolidate' }) branches = collection<Branch>()
    }
    expectProblem([Tree], 'SKEIN_1012', 'Branch.total', /'leaves\/'/, /name/)
  })
})
