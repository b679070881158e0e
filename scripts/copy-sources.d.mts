/** All that packing needs, in another folder that is there. */
export function copySources(folder: string): void;
