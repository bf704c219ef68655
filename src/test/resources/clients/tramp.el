;; Emacs' TRAMP as a person uses it, in batch: files, processes and listings of a node, with TRAMP's own settings.
;;   emacs -Q --batch -l tramp.el FOLDER
;; FOLDER is an empty one of the node. Prints "all" at the end; anything else is a failure.
(require 'tramp)
(require 'dired)
(require 'cl-lib)

(setq tramp-verbose 1
      tramp-persistency-file-name nil
      make-backup-files nil
      create-lockfiles nil
      vc-handled-backends nil)

(defun opened (name text)
  "Visit NAME, append TEXT, save it and forget it."
  (with-current-buffer (find-file-noselect name)
    (goto-char (point-max))
    (insert text)
    (save-buffer)
    (kill-buffer)))

(defun content (name)
  (with-temp-buffer
    (insert-file-contents name)
    (buffer-string)))

(defun uses (method folder)
  (let* ((there (format "/%s:devbox:%s" method folder))
         (file (concat there "/notes.txt"))
         (default-directory (file-name-as-directory there))
         (big (mapconcat #'number-to-string (number-sequence 1 40000) "\n")))
    (opened file "one\n")
    (opened file "zwei: grün\n")
    (cl-assert (equal (content file) "one\nzwei: grün\n") t)
    ;; Large enough to be copied by scp where the method has that.
    (opened (concat there "/big") big)
    (cl-assert (equal (content (concat there "/big")) big) t)
    (with-temp-buffer
      (cl-assert (= 3 (process-file "sh" nil t nil "-c" "cat notes.txt; pwd; exit 3")) t)
      (cl-assert (equal (buffer-string) (concat "one\nzwei: grün\n" folder "\n")) t))
    (cl-assert (equal (shell-command-to-string "wc -l <notes.txt") "2\n") t)
    (with-temp-buffer
      (let ((process (start-file-process "cat" (current-buffer) "cat")))
        (process-send-string process "to and fro\n")
        (process-send-eof process)
        (while (accept-process-output process))
        (goto-char (point-min))
        (cl-assert (search-forward "to and fro") t)))
    (make-directory (concat there "/sub"))
    (rename-file file (concat there "/sub/notes.txt"))
    (set-file-modes (concat there "/sub/notes.txt") #o600)
    (cl-assert (= #o600 (file-modes (concat there "/sub/notes.txt"))) t)
    (make-symbolic-link "sub/notes.txt" (concat there "/link"))
    (cl-assert (equal (directory-files there nil "^[^.]") '("big" "link" "sub")) t)
    (with-current-buffer (dired-noselect there)
      (cl-assert (save-excursion (goto-char (point-min)) (search-forward "link -> sub/notes.txt")) t))
    (cl-assert (not (file-exists-p file)) t)
    (delete-directory (concat there "/sub") t)
    (delete-file (concat there "/big"))
    (delete-file (concat there "/link"))))

(dolist (method '("ssh" "scp"))
  (uses method (car command-line-args-left)))
(tramp-cleanup-all-connections)
(princ "all\n")
(kill-emacs 0)
