/** The types of images that clients may send. All protocols of remote engines have these. */
export const mediaTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export type MediaType = (typeof mediaTypes)[number];
