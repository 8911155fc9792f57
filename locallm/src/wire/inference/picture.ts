/**
 * One picture, or one piece of sound, as a projector made it: rows that stand in a prompt where tokens would. A
 * projector that cuts a picture into slices makes one of these of each slice; the text between them is text.
 */
export interface EncodedPicture {
  /**
   * 64 hex digits: the SHA-256 of everything that the rows depend on. That is the picture's bytes, the projector's
   * digest, the projector's settings and, if there are several slices, the slice's number. Two pictures with the same
   * identity share what was computed of them.
   */
  readonly identity: string;
  /** How many rows stand in the sequence. Windows, limits and counts of tokens count each as one token. */
  readonly cells: number;
  /**
   * How far the picture moves the positions of what follows it: `cells` for a line, and the longer side of a grid.
   */
  readonly positions: number;
  /**
   * Cell after cell, each with as many numbers as the model's input has (`ModelInfo.inputLength`). Empty on the way to
   * a runner, which asks for the rows that it has to compute: a conversation that continues has most of them.
   */
  readonly rows: Float32Array;
  /**
   * How positions are given to the cells. In a line, each cell has the next position. A grid has `width` × `height`
   * cells, row by row, for models with M-RoPE: all have the first position in time, and their row and column are added
   * to it in the other dimensions.
   */
  readonly layout: "line" | PictureGrid;
  /** False if each cell sees all others of its picture, so that one step must compute all of them (Gemma 3). */
  readonly causal: boolean;
}

/** A picture without its rows: what a sequence that holds it has to know. */
export type Picture = Omit<EncodedPicture, "rows">;

export interface PictureGrid {
  readonly width: number;
  readonly height: number;
}

/** The pictures of a prompt, in order. */
export function picturesOf(prompt: unknown): EncodedPicture[] {
  return Array.isArray(prompt) ? prompt.filter(isPicture) : [];
}

export function isPicture(part: unknown): part is EncodedPicture {
  return typeof part === "object" && part !== null && "cells" in part;
}
