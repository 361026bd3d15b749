// The JSON of folders, and the names of their paths. Every string comes from outside and is only shown as text.

export interface FileEntry {
  /** Its name below the task's or the node's folder. */
  path: string;
  isFolder: boolean;
  /** Null for folders. */
  size: number | null;
  lastModified: string | null;
}

export interface Folder {
  folder: string;
  /** False if the folder has more than is listed. */
  complete: boolean;
  value: FileEntry[];
}

/** "results" of "wd/results". */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** "wd/results" for "results" in "wd". */
export function pathIn(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}

/** The folders around a path, the outermost first: "wd" and "wd/results" of "wd/results/a.txt". */
export function foldersAround(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The API's path of a folder's list; `files` is that of all files. */
export function pathOfFolder(files: string, folder: string): string {
  return folder ? `${files}?${new URLSearchParams({ folder })}` : files;
}

/** The API's path of a file, whose slashes stay. */
export function pathOfFile(files: string, path: string): string {
  return [files, ...path.split("/").map(encodeURIComponent)].join("/");
}
