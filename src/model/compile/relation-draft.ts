import type { RelationModel } from '../relation-model.js'

/** A relation before it has its place in the loaded-mask. */
export type RelationDraft = Omit<RelationModel, 'index'>
