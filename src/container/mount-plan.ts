// The mounts of a container in order, independent of the program that makes them.

export type Mount =
  /** The path of this machine, or `from`, read-only or writable. A missing source is left out. */
  | { readonly kind: "read" | "write"; readonly path: string; readonly from?: string | undefined }
  /** An empty folder in memory. */
  | { readonly kind: "empty"; readonly path: string }
  /** A file that exists but cannot be read. */
  | { readonly kind: "hide"; readonly path: string }
  /** A folder, created when it is missing. */
  | { readonly kind: "folder"; readonly path: string }
  /** A link inside the container. */
  | { readonly kind: "link"; readonly path: string; readonly to: string }
  /** A device file of this machine. */
  | { readonly kind: "device"; readonly path: string }
  /** From here on the mount at this path is read-only. */
  | { readonly kind: "seal"; readonly path: string };

export interface MountPlan {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  /** Empty file without read permission, mounted over hidden files. */
  readonly unreadable: string;
}
