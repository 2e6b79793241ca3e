import { Bin, DeletedAt, Embeddable, Embedded, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

describe('a model with soft deletes is refused', () => {
  it('when a delete would take something along that could not be restored', () => {
    @Record({ set: 'order' })
    class Order {
      @Key() id!: number
      @DeletedAt() deletedAt?: Date
      @OneToMany(() => Line, 'order', { onDelete: 'cascade' }) lines = collection<Line>()
    }
    @Record({ set: 'line' })
    class Line {
      @Key() id!: number
      @ManyToOne(() => Order, 'lines') order = ref<Order>()
    }
    expectProblem([Order, Line], 'SKEIN_1060', 'Order.lines', /each Line for good/, /@DeletedAt on Line/)
  })

  it('when a subclass has them and its base class has not', () => {
    @Record({ set: 'animal', discriminator: 'kind', discriminatorValue: 'animal' })
    class Animal {
      @Key() id!: number
    }
    @Record({ discriminatorValue: 'dog' })
    class Dog extends Animal {
      @DeletedAt() deletedAt?: Date
    }
    expectProblem([Animal, Dog], 'SKEIN_1060', 'Dog.deletedAt', /base class Animal/, /on Animal/)
  })

  it('when the decorator is used twice, in a part, or on another type', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @DeletedAt() one?: Date
      @DeletedAt() two?: Date
    }
    expectProblem([A], 'SKEIN_1027', 'A.two', /second @DeletedAt/, /Keep one/)
    @Embeddable()
    class Part {
      @Bin() name!: string
      @DeletedAt() at?: Date
    }
    @Record({ set: 'b' })
    class B {
      @Key() id!: number
      @Embedded(() => Part) part?: Part
    }
    expect(problemsOf(B).map(({ code }) => code)).to.include('SKEIN_1026')
  })

  it('not when all it takes along has them, also by a base class', () => {
    @Record({ set: 'shape', discriminator: 'kind', discriminatorValue: 'shape' })
    class Shape {
      @Key() id!: number
      @DeletedAt() deletedAt?: Date
      @ManyToOne(() => Board, 'shapes') board = ref<Board>()
    }
    @Record({ discriminatorValue: 'circle' })
    class Circle extends Shape {
      @Bin() radius!: number
    }
    @Record({ set: 'board' })
    class Board {
      @Key() id!: number
      @DeletedAt() deletedAt?: Date
      @OneToMany(() => Shape, 'board', { onDelete: 'cascade' }) shapes = collection<Shape>()
    }
    expect(problemsOf(Shape, Circle, Board)).to.deep.equal([])
  })
})
