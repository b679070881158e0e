export function placeInDist(file: string): string;
export function sourceOf(place: string, folder?: string): string;
