/**
 * Whether the person moved the mouse. Otherwise the page may have moved under it, or a finger is about to
 * scroll.
 */
export function isMoved({ pointerType, movementX, movementY }: PointerLike): boolean {
  return pointerType === 'mouse' && (movementX !== 0 || movementY !== 0)
}

type PointerLike = Pick<PointerEvent, 'pointerType' | 'movementX' | 'movementY'>
