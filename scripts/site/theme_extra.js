// The theme readthedocs styles tables of this class.
document.querySelectorAll(".rst-content table").forEach((table) => table.classList.add("docutils"));
