/** Whether someone moved the mouse. The page may have moved under it, and a finger is about to scroll. */
export function isMoved({ pointerType, movementX, movementY }: PointerLike): boolean {
  return pointerType === 'mouse' && (movementX !== 0 || movementY !== 0)
}

type PointerLike = Pick<PointerEvent, 'pointerType' | 'movementX' | 'movementY'>
