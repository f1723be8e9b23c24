/** Whether a hand moved the pointer: not when the page moved under it, and not a finger, which is about to scroll. */
export function isMoved({ pointerType, movementX, movementY }: PointerLike): boolean {
  return pointerType === 'mouse' && (movementX !== 0 || movementY !== 0)
}

type PointerLike = Pick<PointerEvent, 'pointerType' | 'movementX' | 'movementY'>
