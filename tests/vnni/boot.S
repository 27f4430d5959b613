# The ROM of the emulated PC: from reset to 64 bits with AVX-512 enabled, then program.cpp at 0x100000. Assembled alone;
# nothing else runs on that machine, no BIOS and no kernel. Intel SDM volume 3, chapters 9.9 and 10.8.5, 13.3.
    .set BASE, 0xffff0000           # where these 64 KiB lie
    .set TABLES, 0x10000            # page tables: all of 4 GiB, each address its own
    .set MEMORY, 0x2000000

    .section .rom, "ax"
    .code16
rom:
start:
    cli
    lgdtl %cs:(gdt_pointer - rom)
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    ljmpl $0x08, $(BASE + protected - rom)

    .code32
protected:
    movw $0x10, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    # Bochs gives out host memory by blocks of 128 KiB in the order of their first use, but loads an image in one piece:
    # so use them in order.
    movl $0x100000, %esi
1:  movl (%esi), %eax
    addl $0x20000, %esi
    cmpl $MEMORY, %esi
    jb 1b

    movl $TABLES, %edi
    xorl %eax, %eax
    movl $(0x6000 / 4), %ecx
    cld
    rep stosl
    movl $(TABLES + 0x1003), TABLES
    movl $(TABLES + 0x2003), TABLES + 0x1000
    movl $(TABLES + 0x3003), TABLES + 0x1008
    movl $(TABLES + 0x4003), TABLES + 0x1010
    movl $(TABLES + 0x5003), TABLES + 0x1018
    movl $(TABLES + 0x2000), %edi
    movl $0x83, %eax                # present, writable, 2 MiB
    movl $2048, %ecx
1:  movl %eax, (%edi)
    addl $8, %edi
    addl $0x200000, %eax
    loop 1b

    movl $0x40620, %eax             # PAE, OSFXSR, OSXMMEXCPT, OSXSAVE
    movl %eax, %cr4
    movl $TABLES, %eax
    movl %eax, %cr3
    movl $0xc0000080, %ecx          # EFER: LME
    rdmsr
    orl $0x100, %eax
    wrmsr
    movl $0x80000023, %eax          # PG, NE, MP, PE
    movl %eax, %cr0
    ljmpl $0x18, $(BASE + wide - rom)

    .code64
wide:
    xorl %ecx, %ecx                 # XCR0: x87, SSE, AVX, and the three states of AVX-512
    xorl %edx, %edx
    movl $0xe7, %eax
    xsetbv
    movl $MEMORY, %esp
    movl $0x100000, %eax
    call *%rax

    .balign 8
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00af9a000000ffff
gdt_pointer:
    .word 31
    .long BASE + gdt - rom

    .org 0xfff0                     # the CPU starts here
    .code16
    jmp start
    .org 0x10000
